// Compiles a schema that is in no document, such as that of an event type. Where a document is repaired with a
// warning, such a schema is refused, because its sender can still correct it.
import type { Fault } from '../../core/errors/problem.ts';
import { fieldIn } from '../../core/errors/problem.ts';
import { bounds } from '../document/bounds.ts';
import { ContractError, isList, isObject } from '../document/document.ts';
import { openSource } from '../document/ref-node.ts';
import { keywords, type KeywordKind } from './keywords.ts';
import { makeValidator, type Validator } from './schema.ts';

export type DeclaredSchema =
  | { kind: 'compiled'; validator: Validator }
  /** Fields are JSON pointers into the schema. */
  | { kind: 'refused'; faults: readonly Fault[] };

export function compileDeclaredSchema(schema: unknown): DeclaredSchema {
  const unsupported = faultsIn(schema, '');
  if (unsupported.length > 0) return refused(unsupported);
  const files = { documents: new Map(), folders: [] };
  const place = openSource({ path: 'schema', root: withoutOwnReference(schema) }, { files });
  const validator = makeValidator(place);
  try {
    validator.prepare();
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    return refused([{ field: error.pointer.slice(1), message: `is refused: ${error.message}` }]);
  }
  const { warnings } = place.source;
  place.source.isLoaded = true;
  if (warnings.length === 0) return { kind: 'compiled', validator };
  return refused(
    warnings.map(({ pointer, message }) => ({
      field: pointer.slice(1),
      message: message.replace('; it is ignored', ''),
    })),
  );
}

/** References are looked up from the root, which must not be one itself. */
function withoutOwnReference(schema: unknown): unknown {
  if (!isObject(schema) || schema['$ref'] === undefined) return schema;
  const { $ref, allOf, ...others } = schema;
  return { ...others, allOf: [...(isList(allOf) ? allOf : []), { $ref }] };
}

function refused(faults: readonly Fault[]): DeclaredSchema {
  return { kind: 'refused', faults: faults.slice(0, bounds.faultsMax) };
}

/** Keywords that would not be enforced, and references that lead out of the schema. */
function faultsIn(schema: unknown, at: string): Fault[] {
  return Object.entries(isObject(schema) ? schema : {}).flatMap(([name, value]) => {
    const field = fieldIn(at, name);
    const kind = holders.has(name) ? 'schema map' : keywords.get(name)?.kind;
    if (kind !== undefined) return partsOf(kind, value, field).flatMap(faultsOfPart);
    if (name === '$ref') return isInside(value) ? [] : [{ field, message: outside }];
    const isHarmless = annotations.has(name) || name.startsWith('x-');
    return isHarmless ? [] : [{ field, message: 'is not a supported keyword of JSON Schema' }];
  });
}

interface Part {
  schema: unknown;
  field: string;
}

function faultsOfPart({ schema, field }: Part): Fault[] {
  return faultsIn(schema, field);
}

function partsOf(kind: KeywordKind, value: unknown, field: string): Part[] {
  if (kind === 'schema') return [{ schema: value, field }];
  const isMap = kind === 'schema map' && isObject(value);
  const isSchemas = kind !== 'value' && isList(value);
  if (!isMap && !isSchemas) return [];
  return Object.entries(value).map(([key, schema]) => ({ schema, field: fieldIn(field, key) }));
}

function isInside(ref: unknown): boolean {
  return typeof ref === 'string' && ref.startsWith('#');
}

const outside = 'leads to another document, expected one in the schema, such as "#/$defs/Address"';

const holders: ReadonlySet<string> = new Set(['$defs', 'definitions']);

/** They say something about a schema, and do not affect what is valid. */
const annotations: ReadonlySet<string> = new Set([
  '$comment',
  '$id',
  '$schema',
  'contentEncoding',
  'contentMediaType',
  'contentSchema',
  'deprecated',
  'description',
  'discriminator',
  'example',
  'examples',
  'externalDocs',
  'nullable',
  'readOnly',
  'title',
  'writeOnly',
  'xml',
]);
