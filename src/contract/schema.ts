// Validators made from schemas. Nothing is compiled before the first value is checked, and then only
// what that schema reaches. Regular expressions are run as the document's author wrote them.
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ErrorObject, ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import type { Fault } from '../core/problem.ts';
import { bounds } from './bounds.ts';
import { bundle, describeSchema } from './bundle.ts';
import type { Bundle, DescribedSchema } from './bundle.ts';
import { examplesBeside, exampleKeywords } from './examples.ts';
import { explain } from './explain.ts';
import type { Branches } from './explain.ts';
import { regExp } from './keywords.ts';
import { follow, nameOf } from './place.ts';
import type { Place } from './place.ts';
import { shapeOf } from './shape.ts';
import type { Shape } from './shape.ts';

export interface Validator {
  /** Where the schema stands, references followed: `#/components/schemas/Message`. */
  place: string;
  /** Self-contained JSON Schema 2020-12. */
  schema: () => Bundle;
  /** The kind of value that text is to be read as. */
  shape: () => Shape;
  /** What is wrong, if anything; fields are JSON pointers relative to the value, '' is the value. */
  check: (value: unknown) => Fault[];
  /** For making examples: the schema with the document's own, and those that stand beside it. */
  described: () => DescribedSchema & { examples: readonly unknown[] };
}

/** `holder` is what has the schema, such as a media type: examples may stand there. */
export function makeValidator(place: Place, holder?: Place): Validator {
  const schema = once(() => bundle(place));
  const shape = once(() => shapeOf(schema()));
  const compiled = once(() => compile(schema()));
  const name = nameOf(follow(place) ?? place);
  return {
    place: name,
    schema,
    shape,
    described: () => ({
      ...describeSchema(place, exampleKeywords),
      examples: holder === undefined ? [] : examplesBeside(holder),
    }),
    check(value) {
      try {
        return compiled()(value);
      } catch (error) {
        // The checker has bugs: it crashes on some schemas (see makeAjv) and on some values, such as
        // {"valueOf": null}. What cannot be checked is refused, not let through.
        const reason = error instanceof Error ? error.message : String(error);
        return [{ field: '', message: `cannot be checked against ${name}: ${reason}` }];
      }
    },
  };
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

const rootId = 'schema';

function compile(schema: Bundle): (value: unknown) => Fault[] {
  const ajv = makeAjv(schema);
  ajv.addSchema(schema, rootId);
  const errorsOf = (ref: string, value: unknown): readonly ErrorObject[] => {
    const validate: ValidateFunction | undefined = ajv.getSchema(rootId + ref);
    return validate === undefined || validate(value) ? [] : (validate.errors ?? []);
  };
  const branches: Branches = {
    check: errorsOf,
    properties: (ref) => shapeOf({ ...schema, $ref: ref }).properties,
  };
  return (value) => {
    const findings = explain(errorsOf('', value), branches);
    const faults = new Map(
      findings.map(({ pointer, message }) => [
        `${pointer} ${message}`,
        { field: pointer, message },
      ]),
    );
    return [...faults.values()].slice(0, bounds.faultsMax);
  };
}

function makeAjv(schema: Bundle): Ajv2020 {
  const ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    verbose: true,
    meta: false,
    validateSchema: false,
    ownProperties: true,
    logger: false,
    code: { regExp: Object.assign(regExp, { code: 'regExp' }) },
  });
  // Keeping track of what was evaluated crashes on some schemas (ajv 8.20; the test has one): it is
  // done only where a keyword asks for it.
  ajv.opts.unevaluated = JSON.stringify(schema).includes('"unevaluated');
  addFormats.default(ajv);
  // A bad URL is judged by the guard, with a better answer than a schema can give (RULINGS 14).
  for (const name of ['uri', 'url', 'uri-reference']) ajv.addFormat(name, true);
  return ajv;
}
