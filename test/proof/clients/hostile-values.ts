// JSON values of any size that are cheap to send but expensive to parse, validate or report, and every location of
// a request body where they can be placed.
import type { Document, Operation, Schema } from '../fuzz/document.ts';

/** JSON text of about `n` values or, for a single value, of about `20 * n` bytes. */
export const hostileValues: Readonly<Record<string, (n: number) => string>> = {
  'empty objects': (n) => `[${repeat('{}', n)}]`,
  'small objects': (n) => `[${repeat('{"a":1}', n / 2)}]`,
  'empty lists': (n) => `[${repeat('[]', n)}]`,
  numbers: (n) => `[${repeat('1', n)}]`,
  'different texts': (n) => `[${list(n, (i) => `"t${i}"`)}]`,
  'deep lists': (n) => `[${repeat('['.repeat(50) + ']'.repeat(50), n / 50)}]`,
  'different keys': (n) => `{${list(n, (i) => `"k${i}":1`)}}`,
  'keys with objects': (n) => `{${list(n / 2, (i) => `"k${i}":{}`)}}`,
  'escaped keys': (n) => `{${list(n, (i) => `"\\u006b\\u006b${i}":1`)}}`,
  'one key': (n) => `{${repeat('"k":1', n)}}`,
  'a long text': (n) => `"${'a.'.repeat(10 * n)}a"`,
  'a text of escapes': (n) => `"${'\\u00e9'.repeat(3 * n)}"`,
  'a text of quotes': (n) => `"${'\\"'.repeat(10 * n)}"`,
  'a text of pairs': (n) => `"${'😀'.repeat(5 * n)}"`,
  'a long number': (n) => '1'.repeat(20 * n),
};

function repeat(part: string, n: number): string {
  return list(n, () => part);
}

function list(n: number, make: (i: number) => string): string {
  return Array.from({ length: Math.ceil(n) }, (_, i) => make(i)).join();
}

/** One location in a body; `bodyWith` returns the body as JSON text with `value` placed there. */
export interface ValueLocation {
  name: string;
  bodyWith: (value: string) => string;
}

/** The body itself, its members and theirs, and the items of lists. */
export function placesOf(
  { resolve }: Pick<Document, 'resolve'>,
  { body }: Operation,
  valid: string,
): ValueLocation[] {
  if (body === undefined) return [];
  const within = (schema: Schema, depth: number): ValueLocation[] => {
    const whole = { name: '', bodyWith: (value: string) => value };
    if (depth === depthMax) return [whole];
    const { properties = {}, items, allOf = [], oneOf = [], anyOf = [] } = resolve(schema);
    const members = Object.entries(properties).flatMap(([key, member]) =>
      within(member, depth + 1).map(({ name, bodyWith }) => ({
        name: `/${key}${name}`,
        bodyWith: (value: string) => `{${JSON.stringify(key)}:${bodyWith(value)}}`,
      })),
    );
    const inItems = (items === undefined ? [] : within(items, depth + 1)).map((one) => ({
      name: `/0${one.name}`,
      bodyWith: (value: string) => `[${one.bodyWith(value)}]`,
    }));
    const branches = [...allOf, ...oneOf, ...anyOf].flatMap((one) => within(one, depth).slice(1));
    return [whole, ...members, ...inItems, ...branches];
  };
  const places = within(body.schema, 0);
  return [...new Map(places.map((one) => [one.name, withRest(one, valid)])).values()];
}

const depthMax = 3;

/** Fills in the rest of a valid body, so that only the hostile value is wrong. */
function withRest({ name, bodyWith }: ValueLocation, valid: string): ValueLocation {
  const top = name.split('/')[1];
  const { [top ?? '']: _replaced, ...rest } = JSON.parse(valid) as Record<string, unknown>;
  const others = JSON.stringify(rest).slice(1, -1);
  if (top === undefined || others === '') return { name, bodyWith };
  return { name, bodyWith: (value) => `{${others},${bodyWith(value).slice(1)}` };
}
