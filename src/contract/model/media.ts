// Media types: which of the declared ones a request body has, and which one carries JSON.
import { child, entries, text, type RefNode } from '../document/ref-node.ts';
import { makeValidator, type Validator } from '../schema/schema.ts';
import { propertiesOf } from '../schema/shape.ts';

/** `Application/JSON; charset=utf-8` → `application/json`. */
export function essenceOf(mediaType: string): string {
  if (mediaType === 'application/json') return mediaType; // The common case.
  return (mediaType.split(';', 1)[0] ?? '').trim().toLowerCase();
}

export function isJson(mediaType: string): boolean {
  if (mediaType === 'application/json') return true;
  return /^[^/]+\/(?:[^/]+\+)?json$/u.test(essenceOf(mediaType));
}

/** The declared type that covers the given one: itself, JSON for `+json`, then a range. */
export function coveringType(
  declared: ReadonlyMap<string, unknown>,
  mediaType: string,
): string | undefined {
  const essence = essenceOf(mediaType);
  if (declared.has(essence)) return essence;
  const candidates = [
    ...(essence.endsWith('+json') ? [`${essence.split('/', 1)[0]}/*+json`] : []),
    ...(isJson(essence) ? ['application/json'] : []),
    `${essence.split('/', 1)[0]}/*`,
    '*/*',
  ];
  return candidates.find((candidate) => declared.has(candidate));
}

/** Compiles `content` of a request body: validators by media type. */
export function compileContent(content: RefNode | undefined): Map<string, Validator | undefined> {
  return new Map(
    entries(content)
      .filter(([mediaType]) => mediaType.includes('/'))
      .map(([mediaType, place]) => {
        const schema = schemaOf(mediaType, place);
        return [essenceOf(mediaType), schema && makeValidator(schema, place)];
      }),
  );
}

/** The schema of what expressions read: of multipart/related, that of the JSON part. */
export function schemaOf(mediaType: string, media: RefNode): RefNode | undefined {
  return essenceOf(mediaType) === 'multipart/related' ? rootPart(media) : child(media, 'schema');
}

/**
 * The JSON part of multipart/related, the only part that is read: the property whose encoding is
 * JSON, else the first one that is an object. Undefined if the schema has neither.
 */
function rootPart(media: RefNode): RefNode | undefined {
  const properties = [...propertiesOf(child(media, 'schema'))];
  const encoding = child(media, 'encoding');
  const isEncoded = (name: string): boolean => {
    const one = encoding && child(encoding, name);
    return isJson(text(one, 'contentType') ?? '');
  };
  const found =
    properties.find(([name]) => isEncoded(name)) ??
    properties.find(([, place]) => isStructured(place));
  return found?.[1];
}

function isStructured(place: RefNode): boolean {
  return text(place, 'type') === 'object' || child(place, 'properties') !== undefined;
}

/** The JSON type among the declared ones, and its schema. A range can carry JSON too. */
export function jsonContent(
  content: RefNode | undefined,
): { mediaType: string; schema: RefNode | undefined; place: RefNode } | undefined {
  const types = entries(content);
  const found =
    types.find(([mediaType]) => essenceOf(mediaType) === 'application/json') ??
    types.find(([mediaType]) => isJson(mediaType)) ??
    types.find(([mediaType]) => ['application/*', '*/*'].includes(essenceOf(mediaType)));
  if (found === undefined) return undefined;
  const essence = essenceOf(found[0]);
  // It becomes a header: a range is not a type, and other characters could not be sent.
  const mediaType = /^[\x21-)+-~]+$/u.test(essence) ? essence : 'application/json';
  return { mediaType, schema: child(found[1], 'schema'), place: found[1] };
}
