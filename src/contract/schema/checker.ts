// Checks values against a bundle, with bounded work for any schema and value. A schema is read when the first value
// reaches it, and that check pays for it: nothing is compiled, so no schema can block the event loop. A value that fits
// takes one fast pass; only one that does not is searched for all faults.
import type { Fault } from '../../core/errors/problem.ts';
import { bounds } from '../document/bounds.ts';
import { isList, isObject, own, type JsonObject } from '../document/document.ts';
import { assertionRule, sizeKeywords, typeTest } from './assertions.ts';
import type { Bundle } from './bundle.ts';
import { apply, applyRules, costOf, mergeSeen, nothingSeen } from './evaluation.ts';
import { quietly, report, rulesOf } from './evaluation.ts';
import type { Applied, At, Node, Reader, Rule, Rules } from './evaluation.ts';
import { chooseFailure, makeFailure, type Failure, type Finding } from './explain.ts';
import {
  TooManySteps,
  createStepBudget,
  OutOfWork,
  runWithBudget,
  type StepBudget,
  type WorkBudget,
} from './step-budget.ts';
import { memberRules } from './member-rules.ts';
import { shapeOf } from './shape.ts';

/** Throws when the value cannot be checked, because it takes too many steps. */
export type Check = (value: unknown, work?: WorkBudget) => Fault[];

export function makeCheck(bundle: Bundle, budget: StepBudget = createStepBudget()): Check {
  const reader = makeReader(bundle);
  const root = reader.nodeOf({ $ref: bundle.$ref });
  const quiet: At = { budget, path: '', findings: undefined, isThorough: false, seen: undefined };
  return (value, work = { left: bounds.requestStepsMax }) => {
    const stepsMax = bounds.checkStepsMax;
    if (runWithBudget(budget, { work, stepsMax }, () => apply(root, value, quiet))) return [];
    for (const isThorough of [true, false]) {
      const findings = search({ ...quiet, isThorough }, work, (at) => apply(root, value, at));
      if (findings !== undefined && findings.length > 0) return faultsOf(findings);
    }
    return [{ field: '', message: 'does not match, and explaining why would take too many steps' }];
  };
}

/** Undefined when it exceeds a step limit: the value does not fit in any case. */
function search(at: At, work: WorkBudget, run: (at: At) => boolean): Finding[] | undefined {
  const findings: Finding[] = [];
  const stepsMax = bounds.explainStepsMax;
  try {
    runWithBudget(at.budget, { work, stepsMax }, () => run({ ...at, findings }));
    return findings;
  } catch (error) {
    if (error instanceof TooManySteps || error instanceof OutOfWork) return undefined;
    throw error;
  }
}

function faultsOf(findings: readonly Finding[]): Fault[] {
  const faults = findings.map(({ pointer, message }): [string, Fault] => [
    `${pointer} ${message}`,
    { field: pointer, message },
  ]);
  return [...new Map(faults).values()].slice(0, bounds.faultsMax);
}

function makeReader({ $defs }: Bundle): Reader {
  const size = Object.keys($defs).length;
  const nodes = new Map<string, Node>();
  const shapes = new Map<string, readonly string[]>();
  const reader: Reader = {
    nodeOf(schema) {
      const ref = isObject(schema) && Object.keys(schema).length === 1 && own(schema, '$ref');
      if (typeof ref !== 'string') return nodeFor(schema, reader);
      const node = nodes.get(ref) ?? nodeFor($defs[ref.slice(ref.lastIndexOf('/') + 1)], reader);
      nodes.set(ref, node);
      return node;
    },
    propertiesOf(schema, budget) {
      const ref = String(isObject(schema) ? own(schema, '$ref') : '');
      if (!shapes.has(ref)) budget.spend(size * costOf.gathering);
      const names = shapes.get(ref) ?? shapeOf({ $ref: ref, $defs }).properties;
      shapes.set(ref, names);
      budget.spend(names.length);
      return names;
    },
  };
  return reader;
}

function nodeFor(schema: unknown, reader: Reader): Node {
  if (!isObject(schema)) return { rules: rulesOf([], schema === false ? [never] : []), read };
  return { rules: undefined, read };

  function read(budget: StepBudget): Rules {
    return readSchema(isObject(schema) ? schema : {}, reader, budget);
  }
}

const never: Rule = (_value, at) =>
  report(at, { keyword: 'false', message: () => 'is not allowed here' });

function readSchema(schema: JsonObject, reader: Reader, budget: StepBudget): Rules {
  const names = Object.keys(schema).filter((keyword) => order.has(keyword));
  const size = names.reduce((sum, keyword) => sum + sizeOf(keyword, schema[keyword]), 0);
  budget.spend(costOf.readingSchema + costOf.reading * size);
  const found = names.toSorted(byOrder).flatMap((keyword) => {
    const limit = schema[keyword];
    const rule =
      assertionRule(keyword, limit) ??
      (inPlaceRules.get(keyword) ?? memberRules.get(keyword))?.({ limit, schema, reader });
    return rule === undefined ? [] : [{ keyword, rule }];
  });
  const sizeRules = found.filter(({ keyword }) => sizeKeywords.has(keyword));
  const others = found.filter(({ keyword }) => !sizeKeywords.has(keyword));
  const rules = rulesOf(
    sizeRules.map(({ rule }) => rule),
    others.map(({ rule }) => rule),
  );
  const isOfType =
    found.length === 1 && Object.hasOwn(schema, 'type') ? typeTest(schema['type']) : undefined;
  return {
    ...rules,
    isOfType,
    isTracking: found.some(({ keyword }) => keyword.startsWith('unevaluated')),
  };
}

/**
 * Of a keyword: the members or items that it has. The values of an `enum` are charged where they
 * are put into a map, unless that happened at load.
 */
function sizeOf(keyword: string, limit: unknown): number {
  if (isList(limit) && keyword !== 'enum') return 1 + limit.length;
  return isObject(limit) ? 1 + Object.keys(limit).length : 1;
}

function byOrder(a: string, b: string): number {
  return (order.get(a) ?? 0) - (order.get(b) ?? 0);
}

/** Faults are listed in this order. The last two must see what the others evaluated. */
const keywordsInOrder = [
  'type',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'format',
  '$ref',
  'const',
  'enum',
  'not',
  'anyOf',
  'oneOf',
  'allOf',
  'if',
  'minItems',
  'maxItems',
  'prefixItems',
  'items',
  'contains',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'required',
  'dependentRequired',
  'dependentSchemas',
  'propertyNames',
  'additionalProperties',
  'properties',
  'patternProperties',
  'unevaluatedItems',
  'unevaluatedProperties',
];
const order: ReadonlyMap<string, number> = new Map(
  keywordsInOrder.map((keyword, at) => [keyword, at]),
);

// Keywords that apply other schemas to the same value.

const inPlaceRules: ReadonlyMap<string, (applied: Applied) => Rule> = new Map(
  Object.entries({
    $ref({ limit, reader }: Applied): Rule {
      const node = reader.nodeOf({ $ref: limit });
      return (value, at) => apply(node, value, at);
    },
    not({ limit, reader }: Applied): Rule {
      const node = reader.nodeOf(limit);
      return (value, at) =>
        !apply(node, value, quietly(at)) || report(at, { keyword: 'not', message: notMessage });
    },
    allOf({ limit, reader }: Applied): Rule {
      const rules = listOf(limit).map((schema): Rule => {
        const node = reader.nodeOf(schema);
        return (value, at) => apply(node, value, at);
      });
      const together = rulesOf([], rules);
      return (value, at) => applyRules(together, value, at);
    },
    anyOf: ({ limit, reader }: Applied): Rule => branchRule(listOf(limit), reader, Infinity),
    oneOf: ({ limit, reader }: Applied): Rule => branchRule(listOf(limit), reader, 1),
    if({ limit, schema, reader }: Applied): Rule {
      const test = reader.nodeOf(limit);
      const onFit = reader.nodeOf(own(schema, 'then'));
      const onFault = reader.nodeOf(own(schema, 'else'));
      return (value, at) =>
        apply(tries(test, value, quietWithSeen(at)) ? onFit : onFault, value, at);
    },
    dependentSchemas({ limit, reader }: Applied): Rule {
      const rules = Object.entries(isObject(limit) ? limit : {}).map(([name, schema]): Rule => {
        const node = reader.nodeOf(schema);
        return (value, at) =>
          !isObject(value) || !Object.hasOwn(value, name) || apply(node, value, at);
      });
      const together = rulesOf([], rules);
      return (value, at) => {
        at.budget.spend(rules.length * costOf.member);
        return applyRules(together, value, at);
      };
    },
  }),
);

function listOf(limit: unknown): readonly unknown[] {
  return isList(limit) ? limit : [];
}

function quietWithSeen(at: At): At {
  return at.seen === undefined ? quietly(at) : { ...quietly(at), seen: at.seen };
}

/** Applies a rule that need not fit: only if it does, what it evaluated counts. */
function tries(node: Node, value: unknown, at: At): boolean {
  if (at.seen === undefined) return apply(node, value, at);
  const seen = nothingSeen();
  const isFitting = apply(node, value, { ...at, seen });
  if (isFitting) mergeSeen(at.seen, seen, at.budget);
  return isFitting;
}

/** `most`: how many of the branches may fit. */
function branchRule(schemas: readonly unknown[], reader: Reader, most: number): Rule {
  const branches = schemas.map((schema) => ({ schema, node: reader.nodeOf(schema) }));
  return (value, at) => {
    const failed: Failure[] = [];
    let passed = 0;
    for (const { schema, node } of branches) {
      at.budget.spend(costOf.rule);
      const findings: Finding[] | undefined = at.findings === undefined ? undefined : [];
      if (!tries(node, value, findings === undefined ? at : { ...at, findings })) {
        if (findings === undefined) continue;
        const properties = reader.propertiesOf(schema, at.budget);
        failed.push(makeFailure(findings, { value, path: at.path, properties }));
        continue;
      }
      passed += 1;
      if (passed > most) {
        return report(at, { keyword: 'oneOf', message: severalMessage });
      }
      if (most > 1 && at.seen === undefined) return true;
    }
    if (passed > 0) return true;
    at.findings?.push(...chooseFailure(failed));
    return false;
  };
}

function notMessage(): string {
  return 'must not match the schema under "not"';
}

function severalMessage(): string {
  return 'matches more than one of the allowed schemas, expected exactly one';
}
