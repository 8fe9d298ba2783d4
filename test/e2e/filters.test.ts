// Payload filters, from the PATCH that sets one to the callbacks at receivers.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { limits } from '../../src/core/limits/limits.ts';
import { start, type Running } from '../api/harness.ts';
import { receive } from './receiver.ts';
import { get, patch, publish, quiet, subscribe, until } from './stage.ts';

interface EventView {
  deliveries: number | null;
}

async function setFilter(service: Running, id: string, filter: unknown): Promise<void> {
  const answer = await patch(service, id, { filter });
  assert.equal(answer.status, 200, answer.text);
}

function payloadOf(fields: object): { payload: string } {
  return { payload: JSON.stringify({ message: 'hello', ...fields }) };
}

describe('a filter', () => {
  it('selects matching events, until it is changed or removed', async () => {
    await using service = await start();
    await using receiver = await receive();
    const { id } = await subscribe(service, receiver.url);
    const send = async (fields: object, more = {}): Promise<number | null> =>
      (await publish(service, 'a', { ...payloadOf(fields), ...more })).deliveries;

    await setFilter(service, id, { '/order/status': ['paid', 'sent'], '/test': false });
    const shown = await get<{ filter: unknown }>(service, `/subscriptions/${id}`);
    assert.deepEqual(shown.filter, { '/order/status': ['paid', 'sent'], '/test': [false] });
    assert.equal(await send({ no: 1, order: { status: 'paid' }, test: false }), 1);
    assert.equal(await send({ no: 2, order: { status: 'open' }, test: false }), 0);
    assert.equal(await send({ no: 3, order: { status: 'sent' } }), 0);
    // It applies to addressed events, too, but not to a ping.
    assert.equal(await send({ no: 4, order: {}, test: false }, { subscriberId: id }), 0);
    assert.equal(
      await send({ no: 5, order: { status: 'sent' }, test: false }, { subscriberId: id }),
      1,
    );
    const ping = await service.call({ method: 'POST', path: `/subscriptions/${id}/ping` });
    assert.equal(ping.status, 202);

    await setFilter(service, id, { '/no': 9007199254740991 });
    assert.equal((await publish(service, 'a', big('9007199254740993'))).deliveries, 0);
    assert.equal((await publish(service, 'a', big('9007199254740991'))).deliveries, 1);
    await setFilter(service, id, null);
    assert.equal(await send({ no: 6 }), 1);
    await quiet(service);
    assert.deepEqual(
      receiver.requests.map(({ body }) => /"no":(\d+)/.exec(body.toString())?.[1] ?? 'ping').sort(),
      ['1', '5', '6', '9007199254740991', 'ping'],
    );
  });

  it('that is invalid is refused with the locations of the errors, and changes nothing', async () => {
    await using service = await start();
    const { id } = await subscribe(service, 'http://127.0.0.1:8081/');
    await setFilter(service, id, { '/a': 1 });
    const filter = { '/a': 1, b: 2, '/c~': 3, '/d': [], '/e': 2 ** 53 };
    const answer = await patch(service, id, { filter });
    assert.equal(answer.status, 400, answer.text);
    const { errors } = answer.json as { errors?: { field: string }[] };
    assert.deepEqual(errors?.map(({ field }) => field).sort(), [
      'body#/filter/b',
      'body#/filter/~1c~0',
      'body#/filter/~1d',
      'body#/filter/~1e',
    ]);
    const shown = await get<{ filter: unknown }>(service, `/subscriptions/${id}`);
    assert.deepEqual(shown.filter, { '/a': [1] });
  });

  it('applies in a large fan-out, too', async () => {
    await using service = await start();
    await using receiver = await receive();
    // Three callbacks each, all of which match the event.
    const callbacks = [0, 1, 2].map((position) => ({ position, events: ['a'] }));
    const crowd = Array.from({ length: Math.ceil(limits.targetsAtOnceMax / 3) + 1 }, (_, no) => no);
    await Promise.all(
      crowd.map(async (no) => {
        const url = `${receiver.url}?no=${no}`;
        const body = { inProgressUrl: url, failedUrl: url, successUrl: url };
        const { id } = await subscribe(service, { body });
        const answer = await patch(service, id, { callbacks, filter: { '/list/0/for': no % 50 } });
        assert.equal(answer.status, 200, answer.text);
      }),
    );
    const accepted = await publish(service, 'a', payloadOf({ list: [{ for: 7 }] }));
    assert.equal(accepted.deliveries, null);
    const { deliveries } = await until(
      async () => get<EventView>(service, `/events/${accepted.eventId}`),
      (event) => event.deliveries !== null,
    );
    assert.equal(deliveries, 6);
    await quiet(service);
    const reached = receiver.requests.map(({ url }) => url.slice(url.indexOf('no=') + 3));
    assert.deepEqual(reached.sort(), ['57', '57', '57', '7', '7', '7']);
  });
});

function big(no: string): { payload: string } {
  return { payload: `{"message":"hello","no":${no}}` };
}
