// Builds a valid request for every operation of openapi.yaml, on resources that exist. New operations are attacked
// automatically; one that needs a body fails until its body is added here.
import { join } from 'node:path';
import type { Operation } from '../../../src/contract/model/contract.ts';
import { loadContract } from '../../../src/contract/compile/load.ts';
import { lazy } from '../../../src/core/base/lazy.ts';
import {
  callOf,
  hook,
  idParameter,
  isOfNobody,
  kindOf,
  tenantsOf,
  type Tenant,
} from '../../api/tenants.ts';
import type { Target } from './target.ts';

export const contract = lazy(async () =>
  loadContract(join(import.meta.dirname, '..', '..', '..', 'openapi.yaml')),
);

export async function operations(): Promise<readonly Operation[]> {
  return (await contract()).operations;
}

export interface Request {
  operation: Operation;
  method: string;
  path: string;
  body: string | undefined;
}

const event = { event: 'a.b', payload: { message: 'm' } };

/** Bodies of the operations that take no id. */
const bodies: Record<string, object | undefined> = {
  subscribeOperation: { callbackUrl: hook },
  publishEvent: event,
  publishEvents: { events: [event] },
  putEventType: { schema: {} },
  deleteEventType: undefined,
  createReplay: { filter: { state: 'ended' } },
  createKey: { name: 'made by a stranger', scopes: ['read'] },
  createApp: { name: 'made by a stranger' },
  registerExchange: { request: { url: '/subscribe' }, response: { status: 201 } },
  createPortalLink: { customer: 'made by a stranger' },
  openPortal: { ticket: 'k'.repeat(43) },
  closePortal: undefined,
  signIn: { key: 'k'.repeat(40) },
  signOut: undefined,
};

/** The body of an operation without an id; empty for others. */
export function exampleBody(operationId: string): Readonly<Record<string, unknown>> {
  return { ...bodies[operationId] };
}

/** Each request gets its own resource, in the app of the target's key. */
export async function requestsOf(target: Target): Promise<Request[]> {
  const { make } = tenantsOf(target.call);
  const own: Tenant = { key: target.key, appId: target.appId };
  const requests: Request[] = [];
  for (const operation of await operations()) {
    const { method, path, operationId } = operation;
    if (idParameter(operation) !== undefined && !isOfNobody(operation)) {
      const call = callOf(operation, await make(kindOf(operation), own), target.key);
      const more = operationId === 'editApp' ? { name: 'named by a stranger' } : undefined;
      const body = call.body ?? more;
      requests.push({ operation, method, path: call.path, body: body && JSON.stringify(body) });
    } else if (method === 'GET') {
      const filled = path.replace(/\{\w+\}/, 'anything');
      requests.push({ operation, method, path: filled, body: undefined });
    } else {
      if (!Object.hasOwn(bodies, operationId))
        throw new Error(`No example body for ${operationId}: add one to "bodies"`);
      const body = bodies[operationId];
      requests.push({ operation, method, path, body: body && JSON.stringify(body) });
    }
  }
  return requests;
}

/** Everything that a caller could have changed, except the time at which keys were last used. */
export async function stateOf({ call }: Target): Promise<string> {
  const paths = ['subscriptions', 'keys', 'apps', 'replays', 'events', 'deliveries'];
  const texts: string[] = [];
  for (const path of paths) {
    const { json } = await call({ path: `/${path}?limit=500` });
    texts.push(
      JSON.stringify(json, (name, value: unknown) => (name === 'lastUsedAt' ? undefined : value)),
    );
  }
  return texts.join('\n');
}
