// Bounds the pass that finds all errors of a value. By itself, the checker visits each item of a
// list that is too long, keeps an error for each, and copies all of them whenever a referenced
// schema adds one, which is quadratic. Here a value that is too large is not searched, and a loop
// stops at enough errors.
import { strict as assert } from 'node:assert';
import type { Ajv2020, Code, CodeKeywordDefinition, KeywordCxt } from 'ajv/dist/2020.js';
import { bounds } from '../document/bounds.ts';
import { checkerLibrary } from './checker-library.ts';
import type { Meter } from './meter.ts';

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
export function forgetItems(ajv: Ajv2020): void {
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
export function payForErrors(ajv: Ajv2020, meter: Meter): void {
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
export function boundErrors(ajv: Ajv2020, meter: Meter): void {
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
