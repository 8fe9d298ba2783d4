// Compiles a bundle into a check with bounded cost, for any schema and value. A value that fits
// costs one fast pass; only one that does not is searched for all faults.
import type { ErrorObject, ValidateFunction } from 'ajv';
import type { Fault } from '../../core/errors/problem.ts';
import { bounds } from '../document/bounds.ts';
import { checkerLibrary } from './checker-library.ts';
import type { Bundle, Schema } from './bundle.ts';
import { boundErrors, forgetItems, payForErrors } from './error-bounds.ts';
import { explain } from './explain.ts';
import type { Branches } from './explain.ts';
import { costCode, enumCode, uniqueItemsCode } from './keyword-code.ts';
import { Exhausted, makeMeter, pay, runMetered } from './meter.ts';
import type { Meter, Work } from './meter.ts';
import { meteredSchemas, nameIn } from './metered.ts';
import { remembered } from '../../core/base/lazy.ts';
import { readRegex } from './regex.ts';
import { shapeOf } from './shape.ts';

/** Throws when the value cannot be checked: too much work, or a bug of the checker. */
export type Check = (value: unknown, work?: Work) => Fault[];

/** `weight`: the cost of compiling, as bundle.ts counts it; it is charged to a search. */
export function makeCheck(bundle: Bundle, meter = makeMeter(), weight = 0): Check {
  const schemas = meteredSchemas(bundle);
  const root = nameIn(bundle.$ref);
  const fits = compile(schemas, { meter, finds: 'nothing' })(root);
  const finders = new Map<Finds, Find>();
  const properties = remembered((name) => shapeOf({ ...bundle, $ref: name }).properties);
  const finderFor = (finds: Finds, work: Work | undefined): Find => {
    const known = finders.get(finds);
    if (known !== undefined) return known;
    pay(work, compileSteps(weight));
    const find = compile(schemas, { meter, finds });
    finders.set(finds, find);
    return find;
  };
  return (value, work) => {
    const stepsMax = bounds.checkStepsMax;
    if (fits === undefined || runMetered(meter, { work, stepsMax }, () => fits(value))) return [];
    for (const finds of ['all', 'first'] as const) {
      const find = finderFor(finds, work);
      const faults = explainBy(find, { properties, root, meter, work }, value);
      if (faults !== undefined && faults.length > 0) return faults;
    }
    return [{ field: '', message: 'does not match, and explaining why would take too many steps' }];
  };
}

/** What compiling a schema of this weight costs a search. */
export function compileSteps(weight: number): number {
  return Math.ceil(weight) * bounds.compileStepsEach + bounds.compileStepsLeast;
}

/** The compiled schema of that name. */
type Find = (name: string) => ValidateFunction | undefined;

interface Explaining {
  properties: Branches['properties'];
  root: string;
  meter: Meter;
  work: Work | undefined;
}

/** Undefined when it exceeds the step limit. */
function explainBy(
  find: Find,
  { properties, root, meter, work }: Explaining,
  value: unknown,
): Fault[] | undefined {
  const errorsOf = (name: string, part: unknown): readonly ErrorObject[] => {
    const validate = find(name);
    const errors = validate === undefined || validate(part) ? [] : (validate.errors ?? []);
    meter.spend(errors.length);
    return errors;
  };
  const branches: Branches = { check: errorsOf, properties };
  const stepsMax = bounds.explainStepsMax;
  try {
    const findings = runMetered(meter, { work, stepsMax }, () =>
      explain(errorsOf(root, value), branches),
    );
    const faults = new Map(
      findings.map(({ pointer, message }) => [
        `${pointer} ${message}`,
        { field: pointer, message },
      ]),
    );
    return [...faults.values()].slice(0, bounds.faultsMax);
  } catch (error) {
    if (error instanceof Exhausted) return undefined;
    throw error;
  }
}

/**
 * How much to find out about a value that does not fit. Faults take memory; `nothing` keeps none.
 */
type Finds = 'nothing' | 'first' | 'all';

interface CompileOptions {
  meter: Meter;
  finds: Finds;
}

function compile(schemas: ReadonlyMap<string, Schema>, { meter, finds }: CompileOptions): Find {
  const { Ajv2020, addFormats } = checkerLibrary();
  const ajv = new Ajv2020({
    strict: false,
    allErrors: finds === 'all',
    verbose: finds !== 'nothing',
    messages: false,
    meta: false,
    validateSchema: false,
    ownProperties: [...schemas.values()].some(namesInherited),
    logger: false,
    // Larger schemas become functions instead of being copied to every reference.
    inlineRefs: 8,
    // Optimization passes over the code take quadratic time, and gain nothing measurable.
    code: { optimize: false, regExp: Object.assign(regExpFor(meter), { code: 'regExp' }) },
  });
  // Tracking evaluated members crashes on some schemas (ajv 8.20; a test has one), so it is enabled
  // only if a keyword needs it.
  ajv.opts.unevaluated = [...schemas.values()].some(asksForUnevaluated);
  addFormats(ajv);
  // The guard judges a bad URL, with a better message than a schema can give.
  for (const name of ['uri', 'url', 'uri-reference']) ajv.addFormat(name, true);
  ajv.removeKeyword('enum').removeKeyword('uniqueItems');
  for (const code of [costCode, enumCode, uniqueItemsCode]) ajv.addKeyword(code(meter));
  forgetItems(ajv);
  payForErrors(ajv, meter);
  if (finds === 'all') boundErrors(ajv, meter);
  for (const [name, schema] of schemas) ajv.addSchema(schema, name);
  for (const name of schemas.keys()) ajv.getSchema(name);
  return (name) => ajv.getSchema(name);
}

/** The engine for `pattern` and `patternProperties`; bundle.ts lets no other expression through. */
function regExpFor(meter: Meter): (source: string) => { test: (text: string) => boolean } {
  return (source) => {
    const reading = readRegex(source);
    const regex = reading.kind === 'regex' ? reading.regex : undefined;
    return {
      test: (text) => regex?.test(text, meter) ?? true,
      toString: () => source,
    };
  };
}

/** Values are plain objects, so inherited members matter only if a schema uses such a name. */
function namesInherited(schema: Schema): boolean {
  const text = JSON.stringify(schema);
  return inherited.some((name) => text.includes(`"${name}"`));
}

const inherited = Object.getOwnPropertyNames(Object.prototype);

function asksForUnevaluated(schema: Schema): boolean {
  return JSON.stringify(schema).includes('"unevaluated');
}
