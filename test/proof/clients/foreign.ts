// Apps are isolated from each other (I17). Every operation that takes an id, in whatever parameter, must treat
// another app's id exactly like an unknown one, and must not change the resource.
import {
  callOf,
  idParameter,
  isOfNobody,
  kindOf,
  normal,
  random,
  tenantsOf,
  type Kind,
} from '../../api/tenants.ts';
import type { Call } from '../../api/harness.ts';
import { operations } from './operations.ts';
import type { Attempt } from './target.ts';

export async function useForeignIds({ target, figures, violations }: Attempt): Promise<void> {
  const { newApp, make, look } = tenantsOf(target.call);
  const [ours, theirs] = [await newApp('ours'), await newApp('theirs')];
  let tried = 0;
  const compare = async (name: string, kind: Kind, ask: (id: string) => Call): Promise<void> => {
    const foreign = await make(kind, theirs);
    const untouched = await look(kind, foreign, theirs);
    const unknown = random(kind);
    const answer = normal(await target.call(ask(foreign)), foreign);
    const wanted = normal(await target.call(ask(unknown)), unknown);
    tried += 1;
    if (JSON.stringify(answer) !== JSON.stringify(wanted)) {
      violations.push(
        `I17: ${name}: ${JSON.stringify(answer)}, an unknown id: ${JSON.stringify(wanted)}`,
      );
    }
    if (JSON.stringify(await look(kind, foreign, theirs)) !== JSON.stringify(untouched)) {
      violations.push(`I17: ${name} has changed something of another app`);
    }
  };
  for (const operation of await operations()) {
    if (idParameter(operation) === undefined || isOfNobody(operation)) continue;
    const name = operation.operationId;
    await compare(name, kindOf(operation), (id) => callOf(operation, id, ours.key));
  }
  const event = { event: 'e', payload: { message: 'm' } };
  const headers = { 'X-Request-Id': 'fixed' };
  const { key } = ours;
  const post = (path: string, body: object): Call => ({ method: 'POST', path, key, headers, body });
  const elsewhere: Record<string, [Kind, (id: string) => Call]> = {
    'publishEvent to': [
      'subscription',
      (subscriberId) => post('/events', { ...event, subscriberId }),
    ],
    'publishEvents to': [
      'subscription',
      (subscriberId) => post('/events/batch', { events: [event], subscriberId }),
    ],
    'createReplay of': [
      'subscription',
      (subscriberId) => post('/replays', { filter: { subscriberId }, dryRun: true }),
    ],
    'listDeliveries of a subscription': [
      'subscription',
      (id) => ({ path: `/deliveries?subscriberId=${id}`, key, headers }),
    ],
    'listDeliveries of an event': [
      'event',
      (id) => ({ path: `/deliveries?eventId=${id}`, key, headers }),
    ],
    'getStats of': [
      'subscription',
      (id) => ({ path: `/stats?subscriberId=${id}&${span}`, key, headers }),
    ],
    'getSubscriptionStats of': [
      'subscription',
      (id) => ({ path: `/stats/subscriptions?subscriberIds=${id}&${span}`, key, headers }),
    ],
  };
  for (const [name, [kind, ask]] of Object.entries(elsewhere)) await compare(name, kind, ask);
  figures['places that take an id'] = tried;
  for (const operation of await operations()) {
    const { operationId, method, path, security } = operation;
    // Sessions take no key, and an accepted stream would never end.
    const isOther = ['/console/session', '/portal/session', '/stream'].includes(path);
    if (security.length === 0 || isOther) continue;
    const call = { method, path: path.replaceAll(/\{\w+\}/g, 'x'), key };
    const named = await target.call({ ...call, headers: { 'X-APP-ID': theirs.appId } });
    if (named.status !== 403) {
      violations.push(`I17: ${operationId}, for another app by X-APP-ID: ${named.status}`);
    }
    if (operation.scope === 'operator') continue;
    const misspelled = await target.call({ ...call, path: `${call.path}?staet=dead` });
    if (misspelled.status !== 400) {
      violations.push(`query: ${operationId}, with an undeclared parameter: ${misspelled.status}`);
    }
  }
}

/** A fixed range, so that two responses can be equal. */
const span = 'from=2026-01-01T00:00:00Z&until=2026-01-01T01:00:00Z';
