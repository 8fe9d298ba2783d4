// Creates validators from schemas. Nothing is compiled before the first value is checked, and then
// only what that schema reaches. One schema of a document has one validator, however often it is
// used.
import { once } from '../core/once.ts';
import type { Fault } from '../core/problem.ts';
import { bounds } from './bounds.ts';
import { bundle, describeSchema, isModern } from './bundle.ts';
import type { Bundle, DescribedSchema } from './bundle.ts';
import { makeCheck } from './checker.ts';
import { isObject } from './document.ts';
import { exampleKeywords, examplesBeside, hasExamples } from './examples.ts';
import { nameOf, refOf, target, warn } from './place.ts';
import type { Place, Source } from './place.ts';
import { plainTextCheck } from './plain-text.ts';
import { shapeOf } from './shape.ts';
import type { Shape } from './shape.ts';

export interface Validator {
  /** The place of the schema, with references followed: `#/components/schemas/Message`. */
  place: string;
  /** Self-contained JSON Schema 2020-12. */
  schema: () => Bundle;
  /** The type that text is to be converted to. */
  shape: () => Shape;
  /** Reads the schema, and compiles a large one, so that faults in it are reported at load. */
  prepare: () => void;
  /** The faults, if any; fields are JSON pointers relative to the value, '' is the value itself. */
  check: (value: unknown) => Fault[];
  /** For creating examples: the schema with the document's own examples, and those beside it. */
  described: () => DescribedSchema & { examples: readonly unknown[] };
}

/** `holder` contains the schema, such as a media type: it may have examples. */
export function makeValidator(place: Place, holder?: Place): Validator {
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
function behindReferences(place: Place): Place {
  let there = place;
  for (let hops = 0; hops < bounds.refHopsMax && refOf(there) !== undefined; hops += 1) {
    const next = saysMore(there) ? undefined : target(there);
    if (next === undefined) break;
    there = next;
  }
  return there;
}

/** In 3.0 siblings of a reference are ignored, except `nullable`, which authors always mean. */
function saysMore(place: Place): boolean {
  const { value } = place;
  if (!isObject(value) || Object.keys(value).length === 1) return false;
  return isModern(place) || value['nullable'] === true;
}

function validatorFor(place: Place, name: string): Validator {
  const schema = once(() => bundle(place));
  const shape = once(() => shapeOf(schema()));
  const isPlain = once(() => plainTextCheck(schema()));
  const compiled = once(() => makeCheck(schema()));
  return {
    place: name,
    schema,
    shape,
    described: () => ({ ...describeSchema(place, exampleKeywords), examples: [] }),
    prepare() {
      if (Object.keys(schema().$defs).length <= bounds.schemasLateMax) return;
      try {
        compiled();
      } catch (error) {
        warn(place, `no value can be validated, so every value is rejected: ${reasonOf(error)}`);
      }
    },
    check(value) {
      try {
        return isPlain()(value) ? [] : compiled()(value);
      } catch (error) {
        // The checker has bugs: it crashes on some schemas (see checker.ts) and on some values,
        // such as {"valueOf": null}. A value that cannot be checked is refused, not accepted.
        return [{ field: '', message: `cannot be validated against ${name}: ${reasonOf(error)}` }];
      }
    },
  };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
