// Media types: which of the declared ones a request body has, and which one carries JSON.
import { makeValidator } from './schema.ts';
import type { Validator } from './schema.ts';
import { child, entries } from './place.ts';
import type { Place } from './place.ts';

/** `Application/JSON; charset=utf-8` → `application/json`. */
export function essenceOf(mediaType: string): string {
  return (mediaType.split(';', 1)[0] ?? '').trim().toLowerCase();
}

export function isJson(mediaType: string): boolean {
  return /^[^/]+\/(?:[^/]+\+)?json$/u.test(essenceOf(mediaType));
}

/** The declared type that covers the given one: itself, JSON for `+json`, then a range. */
export function coveringType(
  declared: ReadonlyMap<string, unknown>,
  mediaType: string,
): string | undefined {
  const essence = essenceOf(mediaType);
  const candidates = [
    essence,
    ...(isJson(essence) ? ['application/json'] : []),
    `${essence.split('/', 1)[0]}/*`,
    '*/*',
  ];
  return candidates.find((candidate) => declared.has(candidate));
}

/** `content` of a request body: validators by media type. */
export function compileContent(content: Place | undefined): Map<string, Validator | undefined> {
  return new Map(
    entries(content)
      .filter(([mediaType]) => mediaType.includes('/'))
      .map(([mediaType, place]) => {
        const schema = child(place, 'schema');
        return [essenceOf(mediaType), schema && makeValidator(schema, place)];
      }),
  );
}

/** The JSON among the declared types, and its schema. A range can carry JSON too. */
export function jsonContent(
  content: Place | undefined,
): { mediaType: string; schema: Place | undefined; place: Place } | undefined {
  const types = entries(content);
  const found =
    types.find(([mediaType]) => essenceOf(mediaType) === 'application/json') ??
    types.find(([mediaType]) => isJson(mediaType)) ??
    types.find(([mediaType]) => ['application/*', '*/*'].includes(essenceOf(mediaType)));
  if (found === undefined) return undefined;
  const essence = essenceOf(found[0]);
  // It becomes a header: a range is no type, and other characters would never leave.
  const mediaType = /^[\x21-)+-~]+$/u.test(essence) ? essence : 'application/json';
  return { mediaType, schema: child(found[1], 'schema'), place: found[1] };
}
