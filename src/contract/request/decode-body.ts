// Decodes bodies made of parts, which arrive as bytes. The operation decides which media types it
// accepts, so this runs after it was found.
import { jsonBudget, readJson, type JsonBudget } from '../../core/base/json.ts';
import type { Fault } from '../../core/errors/problem.ts';
import { bounds } from '../document/bounds.ts';
import { essenceOf, isJson } from '../model/media.ts';
import { mediaTypeParameter, readDisposition, readMultipart } from './multipart.ts';
import type { Part } from './multipart.ts';

export type Decoding = { kind: 'value'; value: unknown } | { kind: 'faults'; faults: Fault[] };

/**
 * Decodes the fields of multipart/form-data, or the JSON part of multipart/related; returns
 * anything else unchanged.
 */
export function decodeBody(value: unknown, contentType: string): Decoding {
  if (!(value instanceof Uint8Array)) return { kind: 'value', value };
  const essence = essenceOf(contentType);
  const isRelated = essence === 'multipart/related';
  if (!isRelated && essence !== 'multipart/form-data') return { kind: 'value', value };
  const boundary = mediaTypeParameter(contentType, 'boundary') ?? '';
  if (boundary === '' || boundary.length > bounds.boundaryCharsMax) {
    return fault('body', 'has no usable boundary, expected Content-Type to name one');
  }
  const multipart = readMultipart(value, boundary);
  if (multipart.kind === 'malformed') return fault('body', multipart.message);
  return isRelated ? decodeRoot(multipart.parts, contentType) : decodeFields(multipart.parts);
}

/** A repeated field becomes a list. */
function decodeFields(parts: readonly Part[]): Decoding {
  const values = new Map<string, unknown[]>();
  const budget = jsonBudget();
  for (const part of parts) {
    const disposition = readDisposition(part);
    if (disposition === undefined) {
      return fault('body', 'has a part without a name, expected Content-Disposition: form-data');
    }
    const { name, file } = disposition;
    // Of a file only the name is kept: no expression can read more.
    const field = file === undefined ? decodePart(part, { field: `body#/${name}`, budget }) : file;
    if (typeof field !== 'string' && field.kind === 'faults') return field;
    const list = values.get(name) ?? [];
    values.set(name, [...list, typeof field === 'string' ? field : field.value]);
  }
  const fields = [...values].map(([name, list]) => [name, list.length === 1 ? list[0] : list]);
  return { kind: 'value', value: Object.fromEntries(fields) };
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function decodePart(
  { header, bytes }: Part,
  { field, budget }: { field: string; budget: JsonBudget },
): Decoding {
  if (isJson(header.get('content-type') ?? '')) return decodeJson(bytes, field, budget);
  try {
    return { kind: 'value', value: utf8.decode(bytes) };
  } catch {
    return fault(field, 'is not valid UTF-8');
  }
}

/** The part that `start` names, else the first. */
function decodeRoot(parts: readonly Part[], contentType: string): Decoding {
  const start = mediaTypeParameter(contentType, 'start');
  const root =
    start === undefined ? parts[0] : parts.find(({ header }) => header.get('content-id') === start);
  const type = root?.header.get('content-type') ?? 'none';
  if (root !== undefined && isJson(type)) return decodeJson(root.bytes, 'body');
  const found = root === undefined ? 'has no root part' : `has a root part of type ${type}`;
  return fault('body', `${found}, expected a part of type application/json`);
}

function decodeJson(bytes: Uint8Array, field: string, budget?: JsonBudget): Decoding {
  const reading = readJson(bytes, undefined, budget);
  return reading.kind === 'value' ? reading : fault(field, reading.message);
}

function fault(field: string, message: string): Decoding {
  return { kind: 'faults', faults: [{ field, message }] };
}
