// The bytes of a body as the value that its media type says. Strict where being lenient would let two
// programs read two different things.
import { isJson } from '../contract/media.ts';
import { readJson } from '../core/json.ts';
import { Problem } from '../core/problem.ts';
import { readMediaType, type RawHead } from './raw-request.ts';

export interface Body {
  mediaType: string;
  value: unknown;
  /** Members that are kept byte for byte, by their JSON pointer. */
  opaque: ReadonlyMap<string, Uint8Array>;
}

/** Undefined when there is no body. Other media types than JSON and forms stay bytes. */
export function readBody(
  bytes: Uint8Array,
  { header }: RawHead,
  opaque: string | undefined,
): Body | undefined {
  if (bytes.length === 0) return undefined;
  const encoding = header.get('content-encoding');
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw unsupported(`Content-Encoding is ${JSON.stringify(encoding)}, expected none`);
  }
  const given = header.get('content-type');
  const type = readMediaType(given);
  if (type === undefined) {
    const found = given === undefined ? 'missing' : JSON.stringify(given);
    throw unsupported(`Content-Type is ${found}, expected application/json`);
  }
  const { mediaType, charset } = type;
  if (charset !== undefined && charset !== 'utf-8') {
    throw unsupported(`the charset is ${JSON.stringify(charset)}, expected utf-8`);
  }
  if (isJson(mediaType)) return { mediaType, ...readJsonBody(bytes, opaque) };
  const isForm = mediaType === 'application/x-www-form-urlencoded';
  return { mediaType, value: isForm ? readForm(bytes) : bytes, opaque: new Map() };
}

export function unsupported(reason: string): Problem {
  return new Problem('unsupported_media_type', `Cannot read the body: ${reason}`);
}

function readJsonBody(
  bytes: Uint8Array,
  opaque: string | undefined,
): Pick<Body, 'value' | 'opaque'> {
  const reading = readJson(bytes, opaque);
  if (reading.kind === 'value') return reading;
  const faults = [{ field: 'body', message: reading.message }];
  throw new Problem('malformed_request', `Cannot read the body: it ${reading.message}`, { faults });
}

/** A field that is given several times becomes a list. */
function readForm(bytes: Uint8Array): Record<string, unknown> {
  const fields = new URLSearchParams(Buffer.from(bytes).toString());
  const names = new Set(fields.keys());
  return Object.fromEntries(
    [...names].map((name) => {
      const all = fields.getAll(name);
      return [name, all.length === 1 ? all[0] : all];
    }),
  );
}
