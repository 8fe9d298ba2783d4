// Parses the headers of a callback before its body is read. Anything malformed or outside the time tolerance is
// rejected here. Nothing is trimmed, repaired or guessed.
import { ForgeryError } from './forgery.ts';
import { receiverLimits } from './limits.ts';

/** `Headers` of fetch, or names and values as in Node, in any case. */
export type HeadersLike =
  | { get: (name: string) => string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface Head {
  readonly id: string;
  /** The text as received, because that is what was signed. */
  readonly timestamp: string;
  readonly timestampMs: number;
  readonly signatures: readonly Signature[];
  readonly event: string | undefined;
  readonly subscription: string | undefined;
  readonly delivery: string | undefined;
  readonly attempt: number | undefined;
  readonly hops: number | undefined;
}

/** `v1,…`: a version and the signature. */
export interface Signature {
  readonly version: string;
  readonly text: string;
}

export function readHead(
  headers: HeadersLike,
  { nowMs, toleranceS }: { nowMs: number; toleranceS: number },
): Head {
  const id = required(headers, 'webhook-id', name);
  const timestamp = required(headers, 'webhook-timestamp', wholeSeconds);
  const signatures = readSignatures(required(headers, 'webhook-signature', anySignature));
  const timestampS = Number(timestamp);
  const ageS = Math.floor(nowMs / 1000) - timestampS;
  const allowed = `expected at most ${toleranceS}`;
  // Not `>`: NaN must be rejected too.
  if (!(ageS <= toleranceS))
    throw new ForgeryError('too_old', `The callback is ${ageS} s old: ${allowed}`);
  if (!(-ageS <= toleranceS)) {
    throw new ForgeryError(
      'too_new',
      `The callback’s timestamp is ${-ageS} s in the future: ${allowed}`,
    );
  }
  const attempt = optional(headers, 'ringback-attempt', wholeNumber);
  const hops = optional(headers, 'ringback-hops', wholeNumber);
  return {
    id,
    timestamp,
    timestampMs: timestampS * 1000,
    signatures,
    event: decodedName(optional(headers, 'ringback-event', eventName)),
    subscription: optional(headers, 'ringback-subscription', name),
    delivery: optional(headers, 'ringback-delivery', name),
    attempt: attempt === undefined ? undefined : Number(attempt),
    hops: hops === undefined ? undefined : Number(hops),
  };
}

interface Shape {
  readonly pattern: RegExp;
  readonly charsMax: number;
  readonly says: string;
}

/**
 * No dot: `a.1` at time 2 would be signed like `a` at time 1 with a body that starts with `2.`, so one could
 * be forged from the other. No comma: repeated headers are joined with commas.
 */
const name: Shape = {
  pattern: /^[\x21-\x2b\x2d\x2f-\x7e]+$/,
  charsMax: receiverLimits.idCharsMax,
  says: 'printable ASCII without spaces, dots and commas',
};
/** `%` only where two digits follow it. */
const eventName: Shape = {
  pattern: /^(?:[\x21-\x24\x26-\x2b\x2d-\x7e]|%[0-9a-fA-F]{2})+$/,
  charsMax: receiverLimits.eventCharsMax,
  says: 'printable ASCII without spaces and commas, percent-encoded',
};
/** One spelling for each second: no sign, no leading zeros, no fraction, no exponent. */
const wholeSeconds: Shape = { pattern: /^[1-9][0-9]*$/, charsMax: 12, says: 'whole seconds' };
const wholeNumber: Shape = { pattern: /^[1-9][0-9]*$/, charsMax: 9, says: 'a whole number' };
/** Unknown versions are ignored, so that senders can introduce new ones. */
const anySignature: Shape = {
  pattern: /^v[0-9a-z]+,[\x21-\x2b\x2d-\x7e]+( v[0-9a-z]+,[\x21-\x2b\x2d-\x7e]+)*$/,
  charsMax: receiverLimits.signatureCharsMax,
  says: '"v1,…" or "v1a,…", separated by single spaces',
};

function decodedName(value: string | undefined): string | undefined {
  try {
    return value === undefined ? undefined : decodeURIComponent(value);
  } catch {
    throw new ForgeryError(
      'header_malformed',
      'The header ringback-event is malformed: expected percent-encoded UTF-8',
    );
  }
}

function required(headers: HeadersLike, header: string, shape: Shape): string {
  const value = optional(headers, header, shape);
  if (value === undefined)
    throw new ForgeryError('header_missing', `The header ${header} is missing`);
  return value;
}

function optional(headers: HeadersLike, header: string, shape: Shape): string | undefined {
  const values = valuesOf(headers, header);
  if (values.length === 0) return undefined;
  const [value] = values;
  if (values.length > 1 || Array.isArray(value)) {
    throw new ForgeryError(
      'header_repeated',
      `The header ${header} is present more than once: expected one`,
    );
  }
  const malformed = (actual: string, expected: string): ForgeryError =>
    new ForgeryError('header_malformed', `The header ${header} ${actual}: expected ${expected}`);
  if (typeof value !== 'string') throw malformed('is not text', shape.says);
  if (value.length > shape.charsMax) {
    throw malformed(`has ${value.length} characters`, `at most ${shape.charsMax}`);
  }
  if (!shape.pattern.test(value)) throw malformed('is malformed', shape.says);
  return value;
}

/** All values: a plain object may have the same name in several spellings. */
function valuesOf(headers: HeadersLike, header: string): unknown[] {
  if (!isFetchHeaders(headers)) {
    const named = Object.entries(headers).filter(([key]) => key.toLowerCase() === header);
    return named.map(([, value]) => value).filter((value) => value !== undefined);
  }
  const value = headers.get(header);
  return value === null ? [] : [value];
}

function isFetchHeaders(headers: HeadersLike): headers is { get: (name: string) => string | null } {
  return typeof headers['get'] === 'function';
}

function readSignatures(header: string): Signature[] {
  const given = header.split(' ');
  if (given.length > receiverLimits.signaturesMax) {
    const most = `expected at most ${receiverLimits.signaturesMax}`;
    throw new ForgeryError(
      'header_malformed',
      `The callback has ${given.length} signatures: ${most}`,
    );
  }
  return given.map((one) => {
    const comma = one.indexOf(',');
    return { version: one.slice(0, comma), text: one.slice(comma + 1) };
  });
}
