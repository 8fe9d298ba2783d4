// Compiles a bundle into a check with bounded cost, for any schema and value. A value that fits
// costs one fast pass; only one that does not is searched for all faults.
import { strict as assert } from 'node:assert';
import type { ErrorObject, ValidateFunction } from 'ajv';
import type { Ajv2020, Code, CodeKeywordDefinition, KeywordCxt } from 'ajv/dist/2020.js';
import { remembered } from '../../core/base/lazy.ts';
import type { Fault } from '../../core/errors/problem.ts';
import { bounds } from '../document/bounds.ts';
import type { Bundle, Schema } from './bundle.ts';
import { checkerLibrary } from './checker-library.ts';
import { explain, type Branches } from './explain.ts';
import { costCode, enumCode, uniqueItemsCode } from './keyword-code.ts';
import { Exhausted, makeMeter, pay, runMetered, type Meter, type Work } from './meter.ts';
import { meteredSchemas, nameIn } from './metered.ts';
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

// Bounds the pass that finds all errors of a value. By itself, the checker visits each item of a
// list that is too long, keeps an error for each, and copies all of them whenever a referenced
// schema adds one, which is quadratic. Here a value that is too large is not searched, and a loop
// stops at enough errors.

interface Rule {
  keyword: string;
  /**
   * Skips the keyword if the value exceeds this other keyword's limit: that is an error already.
   */
  size?: 'maxItems' | 'maxProperties' | 'maxLength';
  /** What the checker generates in its loop over items or members. */
  loop?: 'subschema' | 'subschema or error';
}

const rules: readonly Rule[] = [
  { keyword: 'items', size: 'maxItems', loop: 'subschema' },
  { keyword: 'unevaluatedItems', size: 'maxItems', loop: 'subschema' },
  // Without `size`: skipped members would count as unevaluated.
  { keyword: 'patternProperties', loop: 'subschema' },
  { keyword: 'additionalProperties', size: 'maxProperties', loop: 'subschema or error' },
  { keyword: 'propertyNames', size: 'maxProperties', loop: 'subschema' },
  { keyword: 'unevaluatedProperties', size: 'maxProperties', loop: 'subschema or error' },
  { keyword: 'pattern', size: 'maxLength' },
  { keyword: 'format', size: 'maxLength' },
];

/**
 * Errors of single items say nothing about a list that must contain another one. The checker would
 * keep them until the search ends, in every pass.
 */
function forgetItems(ajv: Ajv2020): void {
  replaceCode(ajv, 'contains', (code) => (context, type) => {
    const subschema = context.subschema.bind(context);
    context.subschema = (...given) => {
      const inner = subschema(...given);
      context.reset();
      return inner;
    };
    code(context, type);
  });
}

/**
 * A reference that fails adds its errors to those before it, which copies all of them: branches of branches that share
 * what they refer to made a million steps take seconds.
 */
function payForErrors(ajv: Ajv2020, meter: Meter): void {
  replaceCode(ajv, '$ref', (code) => (context, type) => {
    const { code: print, Name } = checkerLibrary();
    const { gen } = context;
    const spend = gen.scopeValue('func', { ref: (errors: number) => meter.spend(errors) });
    const result = context.result.bind(context);
    context.result = (condition, onFit, onFault) =>
      result(condition, onFit, () => {
        onFault?.();
        gen.code(print`${spend}(${new Name('errors')})`);
      });
    code(context, type);
  });
}

/** For a checker with `allErrors`. */
function boundErrors(ajv: Ajv2020, meter: Meter): void {
  for (const { keyword, size, loop } of rules) {
    replaceCode(ajv, keyword, (code) => (context, type) => {
      // Under `not` and `if` the checker stops at the first error, and opens blocks that end
      // elsewhere.
      if (context.it.allErrors !== true) return code(context, type);
      const search = (): void => {
        if (loop !== undefined) endLoop(context, loop, meter);
        code(context, type);
      };
      const fits = size && fitsCode(context, size);
      if (fits === undefined) search();
      else context.gen.if(fits, search);
    });
  }
}

type WriteCode = CodeKeywordDefinition['code'];

function replaceCode(ajv: Ajv2020, keyword: string, change: (code: WriteCode) => WriteCode): void {
  const definition = ajv.getKeyword(keyword);
  assert(typeof definition === 'object' && 'code' in definition, `${keyword} is written as code`);
  definition.code = change(definition.code);
}

function fitsCode(context: KeywordCxt, size: NonNullable<Rule['size']>): Code | undefined {
  const { code } = checkerLibrary();
  const { data, parentSchema } = context;
  const max: unknown = parentSchema[size];
  if (typeof max !== 'number') return undefined;
  switch (size) {
    case 'maxItems':
      return code`${data}.length <= ${max}`;
    case 'maxProperties':
      return code`Object.keys(${data}).length <= ${max}`;
    case 'maxLength':
      // A schema counts characters, and `length` counts each once or twice. A number has a format
      // but no length.
      return code`!(${data}.length > ${2 * max})`;
  }
}

/** Makes the loop that the checker generates end when there are enough errors. */
function endLoop(context: KeywordCxt, loop: NonNullable<Rule['loop']>, meter: Meter): void {
  const { code, Name } = checkerLibrary();
  const { gen } = context;
  const errors = new Name('errors');
  const before = gen.const('before', errors);
  const enough = gen.scopeValue('func', { ref: enoughFor(meter) });
  const leave = (): void => {
    gen.if(code`${errors} > ${before} && ${enough}(${errors} - ${before})`, () => gen.break());
  };
  const subschema = context.subschema.bind(context);
  context.subschema = (...given) => {
    const inner = subschema(...given);
    leave();
    return inner;
  };
  if (loop !== 'subschema or error') return;
  const error = context.error.bind(context);
  context.error = (...given) => {
    error(...given);
    leave();
  };
}

/** Errors cost work too: each new one may copy those before it. */
function enoughFor(meter: Meter): (errors: number) => boolean {
  return (errors) => {
    meter.spend(errors);
    return errors >= bounds.errorsMax;
  };
}
