// The callback URL is the service's own publish operation, so each callback publishes the next event. The chain
// must end at the hop limit, however deeply the payload nests further events.
import { limits } from '../../../src/core/limits/limits.ts';
import { quiet, subscribe } from '../../e2e/stage.ts';
import type { Attempt } from './target.ts';

/** Lenient, because the payloads do not match the contract. */
export const loopEnv = { RINGBACK_LENIENT: 'on', RINGBACK_RETRY: '10ms' } as const;

export async function publishInALoop({ target, figures, violations }: Attempt): Promise<void> {
  const { url, key, call } = target;
  let payload: object = {};
  for (let depth = 0; depth < 4 * limits.hopsMax; depth += 1) payload = { event: 'loop', payload };
  const service = { ...target, logged: target.log, [Symbol.asyncDispose]: async () => undefined };
  await subscribe(service, `${url}/events?api_key=${key}`);
  await call({ method: 'POST', path: '/events', body: { event: 'loop', payload } });
  await quiet(service);
  const { json } = await call({ path: '/events?limit=500' });
  const events = Array.isArray(json['items']) ? json['items'].length : 0;
  if (events !== limits.hopsMax + 1) {
    violations.push(`loop: one event became ${events}, expected ${limits.hopsMax + 1}`);
  }
  figures['events of a loop'] = events;
}
