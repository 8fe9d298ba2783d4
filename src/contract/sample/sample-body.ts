// Makes the body of an example request, in the media type that is read best, with values that fulfil as
// many wishes as their schema allows.
import type { RequestBody, Variant } from '../model/contract.ts';
import { isList, isObject } from '../document/document.ts';
import { isJson } from '../model/media.ts';
import type { Work } from '../schema/meter.ts';
import type { RawRequest } from '../request/request.ts';
import { sampleOf } from './sample.ts';
import type { Sample, Wish } from './sample.ts';
import type { Validator } from '../schema/schema.ts';

export type DrawnBody = { kind: 'drawn'; body: RawRequest['body'] } | { kind: 'none'; why: string };

/** A body with the wishes in it; undefined if none is needed. */
export function drawBody(
  body: RequestBody | undefined,
  wishes: readonly Wish[],
  { variant, work }: { variant: Variant | undefined; work: Work },
): DrawnBody {
  const isRequired = body?.required === true && (variant?.name ?? '') === '';
  if (body === undefined || (!isRequired && wishes.length === 0)) {
    return { kind: 'drawn', body: undefined };
  }
  const chosen = chooseMedia(body.content);
  if (chosen === undefined) {
    const types = [...body.content.keys()].join(', ');
    return { kind: 'none', why: `the body is ${types}, expected JSON or a form` };
  }
  const sample = fulfil(chosen.schema, wishes, work);
  if (sample.kind === 'none') return { kind: 'none', why: `body: ${sample.why}` };
  const value = isForm(chosen.mediaType) ? formOf(sample.value) : sample.value;
  return { kind: 'drawn', body: { mediaType: chosen.mediaType, value } };
}

/** JSON if the operation accepts it, otherwise a form. */
function chooseMedia(
  content: RequestBody['content'],
): { mediaType: string; schema: Validator | undefined } | undefined {
  if (content.size === 0) return { mediaType: 'application/json', schema: undefined };
  for (const [type, schema] of content) if (isJson(type)) return { mediaType: type, schema };
  for (const [type, schema] of content) {
    if (/^(?:application|\*)\/\*$/u.test(type)) return { mediaType: 'application/json', schema };
    if (isForm(type)) return { mediaType: type, schema };
  }
  return undefined;
}

/** Whether expressions can read a body of this type. */
export function isRead(mediaType: string): boolean {
  return isJson(mediaType) || isForm(mediaType) || /^(?:application|\*)\/\*$/u.test(mediaType);
}

function isForm(mediaType: string): boolean {
  return mediaType === 'application/x-www-form-urlencoded';
}

function formOf(value: unknown): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(isObject(value) ? value : {}).map(([name, field]) => [
      name,
      isList(field) ? field.map(fieldText) : fieldText(field),
    ]),
  );
}

function fieldText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The body as it is sent. */
export function writeBody({ mediaType, value }: NonNullable<RawRequest['body']>): string {
  if (!isForm(mediaType)) return JSON.stringify(value);
  const pairs = Object.entries(isObject(value) ? value : {}).flatMap(([name, field]) =>
    [field].flat().map((text): [string, string] => [name, String(text)]),
  );
  return new URLSearchParams(pairs).toString();
}

/** With all wishes if the schema allows them, otherwise with each wish that it allows, added one by one. */
export function fulfil(schema: Validator | undefined, wishes: readonly Wish[], work: Work): Sample {
  const validator = schema ?? anything;
  const whole = sampleOf(validator, work, wishes);
  if (whole.kind === 'sample' || wishes.length === 0) return whole;
  let best = sampleOf(validator, work);
  const granted: Wish[] = [];
  for (const wish of wishes) {
    const milder = { ...wish, accepts: isUrl, value: 'https://example.com/callback' };
    for (const one of isUrl(wish.value) ? [wish, milder] : [wish]) {
      const sample = best.kind === 'none' ? best : sampleOf(validator, work, [...granted, one]);
      if (sample.kind === 'none') continue;
      best = sample;
      granted.push(one);
      break;
    }
  }
  return best;
}

/** Used if no schema is declared. */
const anything: Validator = {
  place: '#',
  schema: () => ({ $ref: '#/$defs/any', $defs: { any: true } }),
  shape: () => ({ types: new Set(), default: undefined, properties: [], items, property: items }),
  prepare: () => undefined,
  check: () => [],
  weight: () => 1,
  described: () => ({ bundle: anything.schema(), places: new Map(), weight: 1, examples: [] }),
};

function items(): ReturnType<Validator['shape']> {
  return anything.shape();
}

function isUrl(value: unknown): boolean {
  return typeof value === 'string' && /^https?:\/\/[^/]/iu.test(value);
}
