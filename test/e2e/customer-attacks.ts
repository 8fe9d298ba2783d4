// What somebody would try who knows ids of another customer: every operation, with each of these ids.
import type { Call, Started } from '../api/harness.ts';

/** Every operation, with each of the ids wherever an id fits. */
export async function attacksOn(
  service: Started,
  ids: readonly string[],
): Promise<(Call & { method: string })[]> {
  const { json } = await service.call({ path: '/openapi.json' });
  const paths = json['paths'] as Record<string, Record<string, { operationId?: string }>>;
  // These end or open what the test itself needs, or never end; none of them takes an id of a customer.
  const left = new Set([
    'openStream',
    'signIn',
    'signOut',
    'closePortal',
    'createApp',
    'editApp',
    'createKey',
  ]);
  const attacks: (Call & { method: string })[] = [];
  for (const [path, item] of Object.entries(paths)) {
    for (const [method, { operationId }] of Object.entries(item)) {
      if (operationId === undefined || left.has(operationId)) continue;
      const places = path.includes('{') ? ids : [''];
      for (const id of places) {
        const at = path.replaceAll(/\{[^}]*\}/g, id);
        for (const query of ['', ...queriesFor(operationId, ids)]) {
          for (const body of bodiesFor(operationId, ids)) {
            attacks.push({ method: method.toUpperCase(), path: at + query, body });
          }
        }
      }
    }
  }
  // What changes something comes last, so that reads find it.
  return attacks.toSorted((a, b) => Number(a.method !== 'GET') - Number(b.method !== 'GET'));
}

function queriesFor(operationId: string, ids: readonly string[]): string[] {
  switch (operationId) {
    case 'listDeliveries':
      return ids.flatMap((id) => [`?subscriberId=${id}`, `?eventId=${id}`, '?state=dead']);
    case 'getStats':
      return ['?customer=cus_1', ...ids.map((id) => `?subscriberId=${id}`)];
    case 'getSubscriptionStats':
      return ids.map((id) => `?subscriberIds=${id}`);
    case 'unsubscribeOperation':
      return ids.map((id) => `?Id=${id}`);
    case 'listSubscriptions':
      return ['?url=fails', '?event=private', '?state=active'];
    case 'listEvents':
      return ['?event=private'];
    case 'listAuditEntries':
      return ['?customer=cus_1', ...ids.flatMap((id) => [`?object=${id}`, `?key=${id}`])];
    default:
      return [];
  }
}

function bodiesFor(operationId: string, ids: readonly string[]): (object | undefined)[] {
  const callbackUrl = 'http://127.0.0.1:9/';
  switch (operationId) {
    case 'editSubscription':
      return [
        { state: 'paused' },
        { description: 'mine' },
        { callbacks: [{ position: 0, url: callbackUrl }] },
      ];
    case 'publishEvent':
      return ids.map((subscriberId) => ({
        event: 'private',
        payload: { message: 'x' },
        subscriberId,
      }));
    case 'publishEvents':
      return ids.map((subscriberId) => ({
        events: [{ event: 'private', payload: { message: 'x' } }],
        subscriberId,
      }));
    case 'createReplay':
      return [
        { filter: { state: 'dead' } },
        ...ids.map((subscriberId) => ({ filter: { state: 'dead', subscriberId } })),
      ];
    case 'subscribeOperation':
    case 'registerExchange':
      return [undefined];
    default:
      return [undefined];
  }
}
