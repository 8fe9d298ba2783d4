// Composes one random request for an operation from the document and the pool of known ids.
import assert from 'node:assert/strict';
import type { Operation, Parameter } from './document.ts';
import { drawId, drawValue, type DrawDeps } from './draw.ts';
import { isObject } from './schema-errors.ts';
import type { Kind } from './pool.ts';
import { encode, type Caller, type FuzzRequest, type Intent, type Pair } from './request.ts';
import { spoilBody, spoilParameter } from './spoil.ts';

export interface ComposeDeps extends Omit<DrawDeps, 'rules' | 'drewForeign'> {
  caller: Caller | undefined;
  carrier: FuzzRequest['carrier'];
}

/** Undefined if the operation has no rule to break. */
export function compose(
  operation: Operation,
  intent: Exclude<Intent, 'wild'>,
  given: ComposeDeps,
): FuzzRequest | undefined {
  const rules = intent === 'written' ? 'written' : 'told';
  const deps: DrawDeps = { ...given, rules, drewForeign: false };
  const path = drawPath(operation, deps);
  const isForeign = deps.drewForeign;
  const { query, headers } = drawParameters(operation, deps);
  const value = drawBody(operation, deps);
  const draft: Draft = { query, headers, value, rule: intent };
  const settled = intent === 'written' ? draft : settle(operation, draft, deps);
  const whole = intent === 'broken' ? spoil(operation, settled, deps) : settled;
  if (whole === undefined) return undefined;
  const credential = credentialOf(given);
  const body = whole.value === undefined ? undefined : Buffer.from(JSON.stringify(whole.value));
  return {
    operation,
    intent,
    rule: whole.rule,
    caller: given.caller,
    carrier: given.carrier,
    isForeign,
    method: operation.method,
    path,
    query: [...whole.query, ...credential.query],
    headers: [
      ...whole.headers,
      ...credential.headers,
      ...(body === undefined ? [] : [['Content-Type', 'application/json'] as const]),
    ],
    body,
  };
}

interface Draft {
  query: readonly Pair[];
  headers: readonly Pair[];
  value: unknown;
  rule: string;
}

function credentialOf({ caller, carrier, pool, chance }: ComposeDeps): {
  query: Pair[];
  headers: Pair[];
} {
  const key = caller?.key ?? '';
  switch (caller === undefined ? 'none' : carrier) {
    case 'header':
      return { query: [], headers: [['X-API-Key', key]] };
    case 'query':
      return { query: [['api_key', key]], headers: [] };
    case 'cookie':
      return { query: [], headers: [['Cookie', `X-API-KEY=${key}`]] };
    case 'session': {
      const session = pool.text('session', chance) ?? 'none';
      return { query: [], headers: [['Cookie', `ringback_session=${session}`]] };
    }
    case 'portal': {
      const session = pool.text('portal', chance) ?? 'none';
      return { query: [], headers: [['X-Portal-Session', session]] };
    }
    case 'none':
      return { query: [], headers: [] };
  }
}

const kindOfPath: Readonly<Record<string, Kind>> = {
  subscriptions: 'sub',
  events: 'evt',
  deliveries: 'dlv',
  replays: 'rpl',
  keys: 'key',
  apps: 'app',
};
const kindOfQuery: Readonly<Record<string, Kind>> = {
  Id: 'sub',
  subscriberId: 'sub',
  eventId: 'evt',
};
const pages = [
  'deliveries',
  'subscriptions',
  'customers',
  'events',
  'replays',
  'keys',
  'search',
  'contract',
  'sign-in',
  'x',
];

function drawPath({ path }: Operation, deps: DrawDeps): string {
  const { chance, pool } = deps;
  const kind = kindOfPath[path.split('/')[1] ?? ''];
  return path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => {
    if (kind !== undefined) return encode(drawId(deps, kind));
    if (name === 'title') return chance.isLucky(0.8) ? 'Ringback' : encode(`${chance.next()}`);
    if (name === 'page') return chance.pick(pages);
    return pool.text('file', chance) ?? 'none.js';
  });
}

const optionalLuck = 0.3;

function drawParameters(operation: Operation, deps: DrawDeps): Pick<Draft, 'query' | 'headers'> {
  const query: Pair[] = [];
  const headers: Pair[] = [];
  for (const parameter of operation.parameters) {
    const { name, in: place, required } = parameter;
    if (place === 'path') continue;
    if (required !== true && !deps.chance.isLucky(optionalLuck)) continue;
    const text = drawParameter(operation, parameter, deps);
    if (text === undefined) continue;
    if (place === 'query') query.push([name, text]);
    else headers.push([name, text]);
  }
  return { query, headers };
}

function drawParameter(
  { operationId }: Operation,
  parameter: Parameter,
  deps: DrawDeps,
): string | undefined {
  const { chance, pool } = deps;
  const { name, schema, in: place } = parameter;
  const kind = kindOfQuery[name];
  if (kind !== undefined) return drawId(deps, kind);
  if (name === 'cursor') return pool.text(`cursor ${operationId}`, chance);
  if (name === 'contract') return 'Ringback';
  if (name === 'Idempotency-Key') return `key-${chance.whole(1, 60)}`;
  if (name === 'If-None-Match') return pool.text('etag', chance) ?? '"x"';
  if (name === 'Accept-Encoding')
    return chance.pick(['gzip', 'br, gzip;q=0.5', 'identity', '*', '']);
  if (schema.type === 'array') {
    return Array.from({ length: chance.whole(1, 5) }, () =>
      drawId(deps, 'sub').replaceAll(',', ''),
    ).join(',');
  }
  const text = String(drawValue(deps, schema));
  return place === 'header' ? text.replaceAll(/[^\x20-\x7e]/g, '') : text;
}

function drawBody({ body, operationId }: Operation, deps: DrawDeps): unknown {
  const { chance, pool } = deps;
  if (body === undefined || (!body.required && chance.isLucky(0.3))) return undefined;
  if (operationId === 'signIn' && chance.isLucky(0.7)) {
    return { key: pool.text('secret', chance) ?? 'x' };
  }
  if (operationId === 'openPortal' && chance.isLucky(0.7)) {
    return { ticket: pool.text('ticket', chance) ?? 'x' };
  }
  return drawValue(deps, body.schema);
}

/** Applies rules across fields that only the descriptions state. */
function settle({ operationId }: Operation, draft: Draft, deps: DrawDeps): Draft {
  switch (operationId) {
    case 'subscribeOperation':
      return settleSubscribe(draft, deps);
    case 'getStats':
    case 'getSubscriptionStats': {
      const names = draft.query.map(([name]) => name);
      const isByEnds =
        names.includes('from') && names.includes('until') && !names.includes('range');
      return isByEnds
        ? orderEnds(draft)
        : { ...draft, query: without(draft.query, ['from', 'until']) };
    }
    case 'createReplay':
      return settleReplay(draft, deps);
    case 'createKey':
      return settleKey(draft, deps);
    case 'registerExchange':
      return settleExchange(draft, deps);
    case 'editSubscription': {
      const value = isObject(draft.value) ? draft.value : {};
      const { callbacks } = value;
      if (!Array.isArray(callbacks)) return draft;
      const [first] = callbacks as readonly object[];
      const one = { events: ['order.*'], ...first, position: 0 };
      return { ...draft, value: { ...value, callbacks: [one] } };
    }
    default:
      return orderEnds(draft);
  }
}

function settleReplay(draft: Draft, { chance }: DrawDeps): Draft {
  const value = isObject(draft.value) ? draft.value : {};
  // Runs for so long that it can be cancelled.
  if (chance.isLucky(0.2)) {
    return { ...draft, value: { filter: { state: 'ended' }, ratePerSecond: 1 } };
  }
  const filter = isObject(value['filter']) ? value['filter'] : undefined;
  if (filter === undefined) return draft;
  const { from, until, ...rest } = filter;
  const ends = [from, until].filter((one) => typeof one === 'string').sort();
  const sorted = ends.length === 2 ? { from: ends[0], until: ends[1] } : { from };
  const kept = ends.length === 0 ? {} : sorted;
  return { ...draft, value: { ...value, filter: { ...rest, ...definedOf(kept) } } };
}

function settleKey(draft: Draft, { chance, nowMs }: DrawDeps): Draft {
  const value = isObject(draft.value) ? draft.value : {};
  const expiresAt = new Date(nowMs + chance.whole(60_000, 1e9)).toISOString();
  const expiry = value['expiresAt'] === undefined ? {} : { expiresAt };
  const { customer, scopes } = value;
  if (customer === undefined || !Array.isArray(scopes)) {
    return { ...draft, value: { ...value, ...expiry } };
  }
  // A key of a customer cannot administrate.
  const some = scopes.filter((scope) => scope !== 'admin' && scope !== 'operator');
  const bound = some.length === 0 ? ['read'] : some;
  return { ...draft, value: { ...value, ...expiry, scopes: bound } };
}

/** For the operation of `exchanged` in stage.ts. */
function settleExchange(draft: Draft, { chance, urls }: DrawDeps): Draft {
  const body = { callbackUrl: chance.pick(urls) };
  const request = { method: 'POST', url: '/jobs', body };
  const status = chance.isLucky(0.8) ? 201 : chance.whole(200, 599);
  const response = { status, body: { jobId: `job_${chance.whole(1, 9)}` } };
  return { ...draft, value: { request, response } };
}

function definedOf(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function orderEnds(draft: Draft): Draft {
  const ends = draft.query.filter(([name]) => name === 'from' || name === 'until');
  if (ends.length < 2) return draft;
  const [from = '', until = ''] = ends
    .map(([, text]) => text)
    .sort((a, b) => Date.parse(a) - Date.parse(b));
  const rest = without(draft.query, ['from', 'until']);
  return { ...draft, query: [...rest, ['from', from], ['until', until]] };
}

function without(pairs: readonly Pair[], names: readonly string[]): Pair[] {
  return pairs.filter(([name]) => !names.includes(name));
}

/** A body with none of these has the settings of the variant query. */
const urlNames = ['callbackUrl', 'inProgressUrl', 'failedUrl', 'successUrl'];

/** Keeps exactly one variant of subscribe. */
function settleSubscribe(draft: Draft, deps: DrawDeps): Draft {
  const { chance, urls } = deps;
  const query = without(draft.query, ['callbackUrl', 'event']);
  const value = isObject(draft.value) ? draft.value : undefined;
  const named = urlNames.some((name) => value?.[name] !== undefined);
  if (!named || chance.isLucky(0.3)) {
    const pairs: Pair[] = [
      ['callbackUrl', chance.pick(urls)],
      ['event', 'order.created'],
    ];
    const rest = value && withoutPatterns(value);
    return { ...draft, query: [...query, ...pairs], value: named ? undefined : rest };
  }
  assert(value);
  const isForAll = value['callbackUrl'] !== undefined;
  return { ...draft, query, value: isForAll ? value : withoutPatterns(value) };
}

/** Event patterns are only allowed for a callback that matches every event. */
function withoutPatterns(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const controls = value['x-ringback'];
  if (!isObject(controls)) return value;
  const { events: _events, ...rest } = controls;
  return { ...value, 'x-ringback': rest };
}

function spoil(operation: Operation, draft: Draft, deps: DrawDeps): Draft | undefined {
  const { chance, document } = deps;
  const { body, parameters } = operation;
  if (body !== undefined && draft.value !== undefined && chance.isLucky(0.8)) {
    const given = { schema: body.schema, value: draft.value };
    const spoiled = spoilBody(document, chance, given);
    const isLeftOut = spoiled?.value === undefined && !body.required;
    return spoiled === undefined || isLeftOut ? undefined : { ...draft, ...spoiled };
  }
  const some = parameters.filter(({ in: place }) => place !== 'path');
  if (some.length === 0) return undefined;
  const parameter = chance.pick(some);
  const schema = document.resolve(parameter.schema);
  const spoiled = spoilParameter(chance, { ...parameter, schema });
  if (spoiled === undefined) return undefined;
  const { name, in: place } = parameter;
  const pairs = spoiled.value.map((text): Pair => [name, text]);
  const { rule } = spoiled;
  return place === 'query'
    ? { ...draft, rule, query: [...without(draft.query, [name]), ...pairs] }
    : { ...draft, rule, headers: [...without(draft.headers, [name]), ...pairs] };
}
