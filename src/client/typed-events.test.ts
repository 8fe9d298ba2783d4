// The types of a client for a map of events: `npm run types` fails if a wrong call compiles, or a right one does not.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createClient, type Client } from './client.ts';

interface Events {
  'order.created': { orderId: number };
  'parcel.sent': { parcel: string; weight?: number };
}

const bodies: unknown[] = [];
const options = {
  url: 'http://localhost:1',
  fetch: async (_url: string, { body }: { body?: unknown }) => {
    bodies.push(JSON.parse(String(body)));
    return Response.json({ eventId: 'evt_1', deliveries: 0 });
  },
};

describe('createClient<Events>()', () => {
  it('publishes events of the map', async () => {
    const client: Client<Events> = createClient<Events>(options);
    await client.publish({ event: 'order.created', payload: { orderId: 1 }, subject: 's' });
    await client.publish({ event: 'parcel.sent', payloadText: '{"parcel":"p"}', audience: 'all' });
    assert.deepEqual(bodies, [
      { event: 'order.created', subject: 's', payload: { orderId: 1 } },
      { event: 'parcel.sent', audience: 'all', payload: { parcel: 'p' } },
    ]);
  });

  it('compiles neither with another name, nor with the payload of another event', () => {
    const client = createClient<Events>(options);
    const any = createClient(options);
    const calls = [
      // @ts-expect-error -- not in the map
      async () => client.publish({ event: 'order.creatd', payload: { orderId: 1 } }),
      // @ts-expect-error -- of another event
      async () => client.publish({ event: 'order.created', payload: { parcel: 'p' } }),
      // @ts-expect-error -- of another event
      async () => client.publishBatch([{ event: 'parcel.sent', payload: { orderId: 1 } }]),
      async () => client.publishBatch([{ event: 'parcel.sent', payload: { parcel: 'p' } }]),
      async () => any.publish({ event: 'anything', payload: 7 }),
    ];
    assert.equal(calls.length, 5);
  });
});
