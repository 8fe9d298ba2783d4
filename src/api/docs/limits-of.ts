// The constraints of one schema as short phrases.
import { isList, isObject, own } from '../../contract/document/document.ts';
import type { JsonObject } from '../../contract/document/document.ts';
import { listIn } from './written.ts';

export function limitsOf(schema: JsonObject): string[] {
  const phrases = [
    countPhrase(schema, 'Length', ['character', 'characters']),
    rangePhrase(schema),
    numberIn(schema, 'multipleOf', (factor) => `multiple of ${factor}`),
    countPhrase(schema, 'Items', ['item', 'items']),
    own(schema, 'uniqueItems') === true ? 'unique items' : undefined,
    countPhrase(schema, 'Properties', ['property', 'properties']),
    requirePhrase(schema, 'anyOf', 'at least one of'),
    requirePhrase(schema, 'oneOf', 'exactly one of'),
    own(schema, 'additionalProperties') === false ? 'no additional properties' : undefined,
    own(schema, 'readOnly') === true ? 'only in responses' : undefined,
    own(schema, 'writeOnly') === true ? 'only in requests' : undefined,
    own(schema, 'deprecated') === true ? 'deprecated' : undefined,
  ];
  return phrases.filter((phrase) => phrase !== undefined);
}

/** `{required: [a]}` as a branch: it only requires properties. */
export function onlyRequires(schema: unknown): boolean {
  return isObject(schema) && Object.keys(schema).join() === 'required';
}

function requirePhrase(schema: JsonObject, key: string, words: string): string | undefined {
  const branches = listIn(schema, key);
  if (branches.length === 0 || !branches.every(onlyRequires)) return undefined;
  const groups = branches.map((branch) => {
    const names = isObject(branch) ? branch['required'] : undefined;
    return isList(names) ? names.map(String).join(' and ') : '';
  });
  return `${words} ${groups.join(', ')}`;
}

function countPhrase(
  schema: JsonObject,
  noun: string,
  [one, many]: readonly [string, string],
): string | undefined {
  const least = own(schema, `min${noun}`);
  const most = own(schema, `max${noun}`);
  const hasLeast = typeof least === 'number' && least > 0;
  if (hasLeast && typeof most === 'number') {
    return least === most ? `${least} ${least === 1 ? one : many}` : `${least} to ${most} ${many}`;
  }
  if (hasLeast) return `at least ${least} ${least === 1 ? one : many}`;
  return typeof most === 'number' ? `at most ${most} ${most === 1 ? one : many}` : undefined;
}

/** Exclusive limits are flags in OpenAPI 3.0 and numbers from 3.1 on. */
function rangePhrase(schema: JsonObject): string | undefined {
  const above = exclusive(schema, 'exclusiveMinimum', 'minimum');
  const below = exclusive(schema, 'exclusiveMaximum', 'maximum');
  const least = above === undefined ? own(schema, 'minimum') : undefined;
  const most = below === undefined ? own(schema, 'maximum') : undefined;
  if (typeof least === 'number' && typeof most === 'number') return `${least} to ${most}`;
  const phrases = [
    typeof least === 'number' ? `at least ${least}` : undefined,
    above === undefined ? undefined : `more than ${above}`,
    typeof most === 'number' ? `at most ${most}` : undefined,
    below === undefined ? undefined : `less than ${below}`,
  ].filter((phrase) => phrase !== undefined);
  return phrases.length === 0 ? undefined : phrases.join(', ');
}

function exclusive(schema: JsonObject, key: string, limit: string): number | undefined {
  const value = own(schema, key);
  const found = value === true ? own(schema, limit) : value;
  return typeof found === 'number' ? found : undefined;
}

function numberIn(
  schema: JsonObject,
  key: string,
  phrase: (value: number) => string,
): string | undefined {
  const value = own(schema, key);
  return typeof value === 'number' ? phrase(value) : undefined;
}
