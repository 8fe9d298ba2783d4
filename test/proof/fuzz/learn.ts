// Collects ids, cursors and keys from a response for later requests, and records acknowledged events.
import { isObject } from './schema-errors.ts';
import { idsIn, kindOf, type Pool } from './pool.ts';
import { isAppOfOperator, ofNobody } from './leaks.ts';
import { asJson, isOfSession, type FuzzRequest } from './request.ts';
import type { WireAnswer } from './wire.ts';

/** What one app's requests have been acknowledged. */
export interface Promised {
  /** Events by id, with the number of deliveries in the acknowledgement. */
  events: Map<string, number | null>;
}

export interface LearnDeps {
  pool: Pool;
  promised: Map<string, Promised>;
  /** Keys that the fuzzer itself needs and must not revoke. */
  spared: ReadonlySet<string>;
}

export function learn(deps: LearnDeps, request: FuzzRequest, answer: WireAnswer): void {
  const { pool, spared } = deps;
  const { operation, caller } = request;
  const { status, body, header } = answer;
  if (status >= 300) return;
  const session = /^ringback_session=([^;]+)/.exec(header('set-cookie') ?? '')?.[1];
  if (session !== undefined) pool.learnText('session', session);
  if (isOfSession(request)) return;
  const json = asJson(body);
  if (isObject(json) && typeof json['token'] === 'string') pool.learnText('portal', json['token']);
  const text = body.toString();
  const app = caller?.app ?? '';
  if (ofNobody.has(operation.operationId) && operation.scope !== 'operator') return;
  const isOfApps = operation.path.startsWith('/apps');
  for (const id of idsIn(text)) {
    const mayBeOfOther = isOfApps || isAppOfOperator(request, id);
    if (pool.ownerOf(id) === undefined && !mayBeOfOther && app !== '') pool.own(id, app);
    if (!spared.has(id) && app !== '') pool.learn(kindOf(id), app, id);
  }
  for (const [, file = ''] of text.matchAll(/\/(?:console|portal)\/assets\/([\w.-]+)/g))
    pool.learnText('file', file);
  const tag = header('etag');
  if (tag !== undefined) pool.learnText('etag', tag);
  if (!isObject(json)) return;
  const { nextCursor, key, url } = json;
  const ticket = typeof url === 'string' ? /#ticket=([\w-]+)$/.exec(url)?.[1] : undefined;
  if (ticket !== undefined) pool.learnText('ticket', ticket);
  if (typeof nextCursor === 'string') pool.learnText(`cursor ${operation.operationId}`, nextCursor);
  if (typeof key === 'string') pool.learnText('secret', key);
  if (status === 202) promise(deps.promised.get(app), json);
}

function promise(promised: Promised | undefined, json: Readonly<Record<string, unknown>>): void {
  const items = Array.isArray(json['items']) ? (json['items'] as readonly unknown[]) : [json];
  for (const item of items) {
    if (!isObject(item)) continue;
    const { eventId, deliveries } = item;
    if (typeof eventId !== 'string') continue;
    promised?.events.set(eventId, typeof deliveries === 'number' ? deliveries : null);
  }
}
