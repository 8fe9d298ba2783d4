// Creates validators from schemas. One schema of a document has one validator, however often it is used.
import { lazy } from '../../core/base/lazy.ts';
import type { Fault } from '../../core/errors/problem.ts';
import { bounds } from '../document/bounds.ts';
import { isObject } from '../document/document.ts';
import { nameOf, refOf, target, type RefNode, type Source } from '../document/ref-node.ts';
import { describeSchema, isModern, type Bundle, type DescribedSchema } from './bundle.ts';
import { makeCheck } from './checker.ts';
import { exampleKeywords, examplesBeside, hasExamples } from './examples.ts';
import { OutOfWork, type WorkBudget } from './step-budget.ts';
import { shapeOf, type Shape } from './shape.ts';

export interface Validator {
  /** The place of the schema, with references followed: `#/components/schemas/Message`. */
  place: string;
  /** Self-contained JSON Schema 2020-12. */
  schema: () => Bundle;
  /** The type that text is to be converted to. */
  shape: () => Shape;
  /** Reads the schema, so that faults in it are reported at load. */
  prepare: () => void;
  /**
   * The faults, if any; fields are JSON pointers relative to the value, '' is the value itself. `work` is charged for
   * the check, which throws OutOfWork when it runs out.
   */
  check: (value: unknown, work?: WorkBudget) => Fault[];
  /** The size of the schema with everything it refers to, as bundle.ts counts it. */
  weight: () => number;
  /** For creating examples: the schema with the document's own examples, and those beside it. */
  described: () => DescribedSchema & { examples: readonly unknown[] };
}

/** `holder` contains the schema, such as a media type: it may have examples. */
export function makeValidator(place: RefNode, holder?: RefNode): Validator {
  const there = behindReferences(place);
  const name = nameOf(there);
  const { source } = place;
  const known = validators.get(source) ?? new Map<string, Validator>();
  validators.set(source, known);
  const validator = known.get(name) ?? validatorFor(there, name);
  known.set(name, validator);
  if (holder === undefined || !hasExamples(holder)) return validator;
  const described = (): ReturnType<Validator['described']> => ({
    ...validator.described(),
    examples: examplesBeside(holder),
  });
  return { ...validator, described };
}

const validators = new WeakMap<Source, Map<string, Validator>>();

/** The place of the schema; a reference with siblings that apply is a schema of its own. */
function behindReferences(place: RefNode): RefNode {
  let there = place;
  for (let hops = 0; hops < bounds.refHopsMax && refOf(there) !== undefined; hops += 1) {
    const next = saysMore(there) ? undefined : target(there);
    if (next === undefined) break;
    there = next;
  }
  return there;
}

/** In 3.0 siblings of a reference are ignored, except `nullable`, which authors always mean. */
function saysMore(place: RefNode): boolean {
  const { value } = place;
  if (!isObject(value) || Object.keys(value).length === 1) return false;
  return isModern(place) || value['nullable'] === true;
}

function validatorFor(place: RefNode, name: string): Validator {
  const read = lazy(() => describeSchema(place));
  const schema = (): Bundle => read().bundle;
  const shape = lazy(() => shapeOf(schema()));
  const described = lazy(() => ({ ...describeSchema(place, exampleKeywords), examples: [] }));
  const checked = lazy(() => makeCheck(schema()));
  return {
    place: name,
    schema,
    shape,
    weight: () => read().weight,
    described,
    prepare: () => void read(),
    check(value, work) {
      try {
        return checked()(value, work);
      } catch (error) {
        if (error instanceof OutOfWork) throw error;
        // A value that cannot be checked is refused, not accepted.
        return [{ field: '', message: `cannot be validated against ${name}: ${reasonOf(error)}` }];
      }
    },
  };
}

/** The checks of one request share the work; when it runs out, that is a fault. */
export function checkWithin({ check }: Validator, value: unknown, work: WorkBudget): Fault[] {
  try {
    return check(value, work);
  } catch (error) {
    if (error instanceof OutOfWork) return [{ field: '', message: tooMuch }];
    throw error;
  }
}

const tooMuch = `cannot be validated: the checks of this request take more than ${bounds.requestStepsMax} steps`;

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
