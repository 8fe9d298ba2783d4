// Creates apps and everything that they can own over HTTP; and for every operation of the contract that
// takes an id, a call that would act on it. For tests of the isolation between apps.
import assert from 'node:assert/strict';
import type { Operation, Parameter } from '../../src/contract/model/contract.ts';
import { idMaker, withPrefix } from '../../src/core/base/id.ts';
import { makeKey } from '../../src/core/domain/key.ts';
import { realWorld } from '../../src/core/base/world.ts';
import type { Answer, Call } from './harness.ts';

const world = realWorld();
const newId = idMaker(world);

/** The callback URL; nothing listens there. */
export const hook = 'http://127.0.0.1:9000/hook';

export type Kind =
  | 'subscription'
  | 'customer'
  | 'event'
  | 'delivery'
  | 'replay'
  | 'key'
  | 'audit entry'
  | 'app';

/** The kind of record that an id parameter names, by the path. New paths must be added here. */
export function kindOf({ path }: Operation): Kind {
  if (/^\/(?:subscriptions|unsubscribe$)/.test(path)) return 'subscription';
  if (path.startsWith('/customers')) return 'customer';
  if (path.startsWith('/events')) return 'event';
  if (path.startsWith('/deliveries')) return 'delivery';
  if (path.startsWith('/replays')) return 'replay';
  if (path.startsWith('/keys')) return 'key';
  if (path.startsWith('/audit')) return 'audit entry';
  if (path.startsWith('/apps/')) return 'app';
  throw new Error(`Cannot tell what the id of ${path} names: add it to tenants.ts`);
}

export function idParameter(operation: Operation): Parameter | undefined {
  if (isNamedByApp(operation)) return undefined;
  return operation.parameters.find((one) => one.in === 'path' || (one.required && isId(one)));
}

/** Documents and pages belong to the service, and are public. */
export function isOfNobody({ path, security }: Operation): boolean {
  return /^\/(contracts|console|portal)\//.test(path) && security.length === 0;
}

/** An app chooses the names of its event types, so another one may have the same: see event-types.test.ts. */
export function isNamedByApp({ path }: Operation): boolean {
  return path.startsWith('/event-types/');
}

export function isId({ name }: Parameter): boolean {
  return /(?:^id|Id)$/i.test(name);
}

/** Bodies with which an operation would have an effect, if it were allowed. */
const bodies: Record<string, object> = {
  editSubscription: { state: 'paused', callbacks: [{ position: 0, url: `${hook}/stolen` }] },
  rotateSecret: { overlapSeconds: 0 },
  rotateKey: { overlapSeconds: 0 },
};

export function callOf(operation: Operation, id: string, key: string): Call {
  const { method, path, operationId } = operation;
  const parameter = idParameter(operation);
  const target =
    parameter?.in === 'path'
      ? path.replace(`{${parameter.name}}`, id)
      : `${path}?${parameter?.name}=${id}`;
  const body = bodies[operationId];
  return {
    method,
    path: target,
    key,
    headers: { 'X-Request-Id': 'fixed' },
    ...(body === undefined ? {} : { body }),
  };
}

export interface Tenant {
  key: string;
  appId: string;
}

export interface Tenants {
  newApp: (name: string) => Promise<Tenant>;
  /** A call that must succeed. */
  ok: (call: Call) => Promise<Answer>;
  make: (kind: Kind, tenant: Tenant) => Promise<string>;
  /** Everything that its owner can read of it. */
  look: (kind: Kind, id: string, tenant: Tenant) => Promise<string[]>;
}

/** `call` without a key must have every scope. */
export function tenantsOf(call: (call: Call) => Promise<Answer>): Tenants {
  const newApp = async (name: string): Promise<Tenant> => {
    const { json } = await call({ method: 'POST', path: '/apps', body: { name } });
    return { key: String(json['key']), appId: String(json['id']) };
  };

  const ok = async (wanted: Call): Promise<Answer> => {
    const answer = await call(wanted);
    assert.ok(answer.status >= 200 && answer.status < 300, answer.text);
    return answer;
  };

  const make = async (kind: Kind, { key, appId }: Tenant): Promise<string> => {
    if (kind === 'app') return appId;
    if (kind === 'subscription') {
      const body = { callbackUrl: hook };
      const { json } = await ok({ method: 'POST', path: '/subscribe', key, body });
      return String(json['subscriberId']);
    }
    if (kind === 'customer') {
      const customer = `cus_${newId()}`;
      const body = { callbackUrl: hook, 'x-ringback': { customer } };
      await ok({ method: 'POST', path: '/subscribe', key, body });
      return customer;
    }
    if (kind === 'key') {
      const body = { name: 'a key', scopes: ['read'] };
      return String((await ok({ method: 'POST', path: '/keys', key, body })).json['id']);
    }
    if (kind === 'audit entry') {
      const object = await make('key', { key, appId });
      const { json } = await ok({ path: `/audit?object=${object}`, key });
      const [entry] = json['items'] as { id: string }[];
      return entry?.id ?? '';
    }
    if (kind === 'replay') {
      // With nothing to replay it is done at once.
      return String((await ok({ method: 'POST', path: '/replays', key, body: {} })).json['id']);
    }
    // Paused, so that nothing changes while the test reads it.
    const subscriberId = await make('subscription', { key, appId });
    const path = `/subscriptions/${subscriberId}`;
    await ok({ method: 'PATCH', path, key, body: { state: 'paused' } });
    const body = { event: 'e', payload: { message: 'm' }, subscriberId };
    const { json } = await ok({ method: 'POST', path: '/events', key, body });
    assert.equal(json['deliveries'], 1);
    const eventId = String(json['eventId']);
    return kind === 'event' ? eventId : `${eventId.replace('evt_', 'dlv_')}_0`;
  };

  /** Everything that its owner can read of it. */
  const look = async (kind: Kind, id: string, { key }: Tenant): Promise<string[]> => {
    const paths = {
      subscription: [
        `/subscriptions/${id}`,
        `/subscriptions/${id}/secret`,
        `/deliveries?subscriberId=${id}`,
      ],
      customer: [`/subscriptions?customer=${id}`],
      event: [`/events/${id}`, `/deliveries?eventId=${id}`],
      delivery: [`/deliveries/${id}`],
      replay: [`/replays/${id}`],
      key: [`/keys/${id}`],
      'audit entry': [],
      app: [],
    }[kind];
    return Promise.all(paths.map(async (one) => (await ok({ path: one, key })).text));
  };

  return { newApp, ok, make, look };
}

/** An id that does not exist. */
export function random(kind: Kind): string {
  const prefixes = { subscription: 'sub', event: 'evt', replay: 'rpl', app: 'app' } as const;
  if (kind === 'key') return `rbk_${makeKey(world).id}`;
  if (kind === 'customer') return `cus_${newId()}`;
  if (kind === 'audit entry') return 'aud_999999999';
  return kind === 'delivery' ? `dlv_${newId()}_0` : withPrefix(prefixes[kind], newId());
}

/** Status, body and headers, with the values masked that always differ between two requests. */
export function normal({ status, headers, text }: Answer, id: string): object {
  const kept = [...headers].filter(([name]) => name !== 'date');
  return { status, text: text.replaceAll(id, '<id>'), headers: Object.fromEntries(kept) };
}
