// Draws values that match a schema, by seed. For fields with rules that only their description states, there is
// a drawer by the name of the schema; it is skipped when values should only obey the schema.
import type { Chance } from '../sim/chance.ts';
import { nameOf, type Document, type Schema } from './document.ts';
import { flatten } from './schema-errors.ts';
import type { Kind, Pool } from './pool.ts';
import { strangeId } from './pool.ts';
import { drawCount, drawInteger, drawJson, drawText, drawWildText, oddNumbers } from './texts.ts';

export interface DrawDeps {
  chance: Chance;
  document: Document;
  pool: Pool;
  /** The app that most ids are drawn from. */
  app: string;
  nowMs: number;
  /** Callback URLs on this machine. */
  urls: readonly string[];
  /** `written`: values obey the schemas. `told`: they also obey the descriptions. */
  rules: 'told' | 'written';
  /** Set when an id of another app was drawn. */
  drewForeign: boolean;
}

const optionalLuck = 0.35;
const farIntegers = [0, 1, 2 ** 31, 2 ** 53 - 1, 2 ** 53, 1e21];

export function drawValue(deps: DrawDeps, schema: Schema): unknown {
  const { chance, document, rules } = deps;
  const name = nameOf(schema);
  const drawer = name === undefined ? undefined : drawers[name];
  const parts = flatten(document, schema);
  const [own = {}] = parts;
  if (own.nullable === true && chance.isLucky(0.08)) return null;
  if (drawer !== undefined && (rules === 'told' || chance.isLucky(0.3))) return drawer(deps);
  if (own.oneOf !== undefined) return drawValue(deps, chance.pick(own.oneOf));
  const allowed = parts.find((part) => part.enum !== undefined)?.enum;
  if (allowed !== undefined) return chance.pick(allowed);
  switch (parts.find(({ type }) => type !== undefined)?.type ?? 'any') {
    case 'boolean':
      return chance.isLucky(0.5);
    case 'integer':
      return own.maximum === undefined && rules === 'written'
        ? chance.pick(farIntegers)
        : drawInteger(chance, own.minimum ?? 0, own.maximum ?? 3);
    case 'number':
      return drawNumber(chance, own);
    case 'string':
      return drawString(deps, Object.assign({}, ...parts.toReversed()) as Schema);
    case 'array':
      return drawArray(deps, own);
    case 'object':
      return drawObject(deps, parts);
    default:
      return drawJson(chance);
  }
}

function drawNumber(chance: Chance, { minimum = -1e6, maximum = 1e6 }: Schema): number {
  const edge = chance.pick([minimum, maximum, chance.between(minimum, maximum)]);
  const fitting = oddNumbers.filter((one) => one >= minimum && one <= maximum);
  return chance.isLucky(0.2) && fitting.length > 0 ? chance.pick(fitting) : edge;
}

function drawString(deps: DrawDeps, schema: Schema): string {
  const { chance, rules } = deps;
  const { format, pattern, minLength = 0, maxLength = 200 } = schema;
  if (format === 'date-time') return drawTime(deps);
  if (format === 'uri') return rules === 'told' ? drawUrl(deps) : drawStrangeUrl(deps);
  if (pattern === namePattern(deps)) return drawName(chance);
  if (pattern !== undefined) return drawByPattern(deps, schema);
  return rules === 'told'
    ? drawText(chance, minLength, maxLength)
    : drawWildText(chance, minLength, maxLength);
}

/** Throws for a pattern that no drawer matches: that is a gap in the fuzzer. */
function drawByPattern(
  deps: DrawDeps,
  { pattern = '', minLength = 0, maxLength = 200 }: Schema,
): string {
  const { chance } = deps;
  const drawn = [
    drawText(chance, minLength, maxLength),
    chance.pick(['2xx', '5xx', '200', '404', '999', '100']),
    chance.pick(['1m', '90m', '8h', '7d', '8d', '1s']),
    chance.pick(['rbk_00000000', 'rbk_zzzzzzzz']),
    drawEventPattern(deps),
    drawEventName(chance),
    drawName(chance),
    `/${drawText(chance, minLength, maxLength - 1)}`,
    drawDuration(deps),
  ];
  const fitting = drawn.find((text) => new RegExp(pattern, 'u').test(text));
  if (fitting === undefined) throw new Error(`Cannot draw a text for the pattern ${pattern}`);
  return fitting;
}

function drawDuration({ chance, rules }: DrawDeps): string {
  return rules === 'told'
    ? chance.pick(['60s', '1m', '90m', '8h', '7d'])
    : `${chance.whole(0, 999_999)}${chance.pick(['s', 'm', 'h', 'd'])}`;
}

function namePattern({ document }: DrawDeps): string | undefined {
  const [{ pattern } = {}] = flatten(document, { $ref: '#/components/schemas/Name' });
  return pattern;
}

function drawArray(deps: DrawDeps, schema: Schema): unknown[] {
  const { minItems = 0, maxItems = 5, items = {}, uniqueItems } = schema;
  const count = drawCount(deps.chance, minItems, maxItems);
  const drawn = Array.from({ length: count }, () => drawValue(deps, items));
  return uniqueItems === true ? [...new Set(drawn)] : drawn;
}

function drawObject(deps: DrawDeps, parts: readonly Schema[]): Record<string, unknown> {
  const { chance } = deps;
  const drawn: Record<string, unknown> = {};
  for (const part of parts) {
    const required = new Set(part.required);
    const alternative = part.anyOf === undefined ? [] : (chance.pick(part.anyOf).required ?? []);
    const entries = Object.entries(part.properties ?? {});
    for (const [name, schema] of entries) {
      const isAsked = required.has(name) || alternative.includes(name);
      if (isAsked || chance.isLucky(optionalLuck)) drawn[name] = drawValue(deps, schema);
    }
    const least = part.minProperties ?? 0;
    if (Object.keys(drawn).length < least && entries.length > 0) {
      const [name, schema] = chance.pick(entries);
      drawn[name] = drawValue(deps, schema);
    }
    const { additionalProperties: others, maxProperties = 4 } = part;
    if (typeof others !== 'object') continue;
    for (let i = drawCount(chance, 0, maxProperties); i > 0; i -= 1) {
      drawn[drawWildText(chance, 0, 12)] = drawValue(deps, others);
    }
  }
  return drawn;
}

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** A time near now or at the edges of the range, in any notation. */
function drawTime({ chance, nowMs, rules }: DrawDeps): string {
  const far = [
    '0000-01-01T00:00:00Z',
    '9999-12-31T23:59:59.999Z',
    '1969-12-31T23:59:59Z',
    '9999-12-31T23:59:59-23:59',
    '0000-01-01T00:00:00+23:59',
    '2026-12-31T23:59:59.123456789Z',
  ];
  if (rules === 'written' && chance.isLucky(0.3)) return chance.pick(far);
  const text = new Date(nowMs + chance.whole(-dayMs, dayMs)).toISOString();
  const plain = text.replace('Z', '+00:00').toLowerCase().replace('t', 'T');
  return chance.isLucky(0.8) ? text : plain;
}

function drawFuture({ chance, nowMs }: DrawDeps): string {
  const aheadMs = chance.pick([minuteMs, 30 * minuteMs, dayMs, 300 * dayMs]);
  return new Date(nowMs + aheadMs + chance.whole(0, minuteMs)).toISOString();
}

function drawUrl({ chance, urls }: DrawDeps): string {
  const query = chance.isLucky(0.2) ? `?q=${encodeURIComponent(drawText(chance, 0, 12))}` : '';
  return chance.pick(urls) + query;
}

const strangeUrls = [
  'http://127.0.0.1:1/',
  'http://10.0.0.1/hook',
  'http://169.254.169.254/latest',
  'http://[::1]:8080/x',
  'http://user:pass@127.0.0.1/',
  'http://0x7f.1/',
  'http://unknown.example/hook',
  'https://127.0.0.1/',
  'ftp://127.0.0.1/file',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'urn:isbn:1',
  'http://127.0.0.1/%00',
  'http://127.0.0.1/a#b',
  'http://127.0.0.1:65535/?a={b}'.replaceAll(/[{}]/g, ''),
  'HTTP://127.0.0.1/',
  'http://127.0.0.1:99999/',
  'http://xn--a/',
  'http://münchen.example/',
];

function drawStrangeUrl(deps: DrawDeps): string {
  const { chance } = deps;
  if (chance.isLucky(0.5)) return drawUrl(deps);
  if (chance.isLucky(0.1)) return `http://127.0.0.1/${'x'.repeat(chance.whole(1900, 9000))}`;
  return chance.pick(strangeUrls);
}

const events = ['order.created', 'order.paid', 'order', 'inProgress', 'failed', 'success', 'a.b.c'];

function drawEventName(chance: Chance): string {
  const luck = chance.next();
  if (luck < 0.8) return chance.pick(events);
  if (luck < 0.83) return 'e'.repeat(256);
  if (luck < 0.86) return drawText(chance, 1, 256);
  return Array.from({ length: chance.whole(1, 4) }, () =>
    chance.pick(['a', 'b-1', '_', '-', '0', 'Z9']),
  ).join('.');
}

function drawEventPattern({ chance }: Pick<DrawDeps, 'chance'>): string {
  const luck = chance.next();
  if (luck < 0.3) return '*';
  if (luck < 0.6)
    return chance.pick(['order.*', 'a.*', 'a.b.*', 'ringback.*', 'ringback.delivery.dead']);
  return drawEventName(chance);
}

/** A name that matches its pattern: no control characters, and not only spaces. */
function drawName(chance: Chance): string {
  const text = drawText(chance, 1, 110).replaceAll(/[\u0085\u200b\ufeff]/gu, '');
  return `${text}${chance.whole(0, 1e9)}`.slice(-128).toWellFormed();
}

/** An id of a kind: mostly of the app itself, else of another app, unknown, or malformed. */
export function drawId(deps: DrawDeps, kind: Kind): string {
  const { chance, pool, app } = deps;
  const luck = chance.next();
  const own = pool.id(kind, app, chance);
  if (luck < 0.8 && own !== undefined) return own;
  const foreign = kind === 'app' ? undefined : pool.foreign(kind, app, chance);
  if (luck < 0.92 && foreign !== undefined) {
    deps.drewForeign = true;
    return foreign;
  }
  return luck < 0.97 || deps.rules === 'told'
    ? strangeId(kind, chance)
    : drawOddId(chance, own ?? strangeId(kind, chance));
}

function drawOddId(chance: Chance, id: string): string {
  switch (chance.whole(0, 6)) {
    case 0:
      return id.toUpperCase();
    case 1:
      return id.slice(0, -1);
    case 2:
      return `${id}0`;
    case 3:
      return id.replace(/_/, '_\u0000');
    case 4:
      return `${id.slice(0, 4)}z${id.slice(5)}`;
    case 5:
      return `${id}' or 1=1 --`;
    default:
      return drawWildText(chance, 1, 300);
  }
}

type Drawer = (deps: DrawDeps) => unknown;

/** A canary: it must never appear in a response, a log line or an error. */
export const canary = 'canary-3f9c1e7a5b2d8046';

/** Drawers for rules that only descriptions state. */
const drawers: Readonly<Record<string, Drawer>> = {
  EventName: ({ chance }) => drawEventName(chance),
  EventPattern: drawEventPattern,
  Description: ({ chance }) => drawText(chance, 1, 512),
  Metadata: ({ chance }) =>
    Object.fromEntries(
      Array.from({ length: chance.pick([0, 1, 2, 3, 20]) }, (_none, i) => [
        `${drawText(chance, 1, 40)}${i}`.replaceAll('__proto__', 'proto'),
        drawText(chance, 0, 60),
      ]),
    ),
  Filter: ({ chance }) =>
    Object.fromEntries(
      Array.from({ length: chance.whole(0, 3) }, () => [
        chance.pick(['/message', '/order/country', '', '/a~1b', '/0']),
        chance.pick(['x', 1, -1.5, true, null, ['NL', 'BE', 7, null], [false]]),
      ]),
    ),
  Retry: ({ chance }) =>
    chance.isLucky(0.5)
      ? []
      : chance.pick([['1s'], ['0ms'], ['10ms', '20ms'], ['7d'], Array(20).fill('5m')]),
  Timeout: ({ chance }) => chance.pick(['100ms', '5s', '60s', '1m', '1000ms']),
  CallbackHeaders: ({ chance }) => ({
    Authorization: `Bearer ${canary}`,
    ...(chance.isLucky(0.3) ? { 'X-Team': 'warehouse' } : {}),
  }),
  ExpiresAt: drawFuture,
  SubscriptionId: (deps) => drawId(deps, 'sub'),
  Addressee: (deps) => drawId(deps, 'sub'),
  ContractTitle: () => 'Ringback',
  Payload: ({ chance }) =>
    chance.isLucky(0.9)
      ? { message: drawWildText(chance, 0, 60), more: drawJson(chance) }
      : drawJson(chance),
};
