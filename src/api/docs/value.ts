// Prints values of a document: bounded, and without characters that hide text or break out of a
// terminal line.
import { isList, isObject } from '../../contract/document/document.ts';
import { bounds } from './view.ts';

/** For a line of text: strings as they are, other values as JSON. */
export function printValue(value: unknown): string {
  if (typeof value === 'string' && value !== '') return cut(withoutControls(value));
  return cut(toJson(value, 0));
}

/** For a block of code. */
export function printJson(value: unknown): string {
  return toJson(value, 2);
}

/** The value, truncated in depth and size; terminates even for cyclic values. */
export function excerpt(value: unknown): unknown {
  const meter = { left: bounds.sampleValuesMax };
  return copy(value, { depth: 0, meter });
}

function copy(value: unknown, at: { depth: number; meter: { left: number } }): unknown {
  const { depth, meter } = at;
  meter.left -= 1;
  if (typeof value === 'string') return cut(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= bounds.sampleDepthMax) return '…';
  const deeper = { depth: depth + 1, meter };
  if (isList(value)) {
    return value.flatMap((one) => (meter.left > 0 ? [copy(one, deeper)] : []));
  }
  if (!isObject(value)) return '…';
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, one]) =>
      meter.left > 0 ? [[key, copy(one, deeper)] as const] : [],
    ),
  );
}

function toJson(value: unknown, spaces: number): string {
  const text: string | undefined = JSON.stringify(excerpt(value), undefined, spaces);
  return (text ?? String(value)).replaceAll(
    hidden,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Control characters that JSON does not escape, and bidi marks. */
const hidden = /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

export function withoutControls(text: string): string {
  // oxlint-disable-next-line no-control-regex -- The pattern matches control characters.
  return text.replaceAll(/[\u0000-\u001f]+/gu, ' ').replaceAll(hidden, '');
}

function cut(text: string): string {
  return text.length > bounds.valueCharsMax ? `${text.slice(0, bounds.valueCharsMax)} …` : text;
}
