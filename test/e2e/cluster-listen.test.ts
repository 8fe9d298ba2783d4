import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { never } from '../../src/core/lane.ts';
import { freshDatabase } from '../postgres/database.ts';
import { startProxy, type Passing } from '../postgres/proxy.ts';
import { startNode } from './cluster.ts';
import { header, receive } from './receiver.ts';
import { publish, subscribe, until } from './stage.ts';

const events = 20;

/**
 * What is promised is a time, from the answer to the callback, on a wall clock; there is no other way to
 * see it. Looking by itself a worker finds an event after 125 ms on average, so a second for the median
 * of twenty is generous to a busy machine, and far less than any wait that would come instead: what is
 * heard of by nothing but a poll of ten seconds, or by a rescue.
 */
const startsWithinMs = 1_000;

/** Right after the server has said that it listens, and is ready for the next statement. */
function listensNow(): (message: Passing) => boolean {
  let listening: number | undefined;
  return ({ side, tag, type, connection }) => {
    if (tag === 'LISTEN') listening = connection;
    return side === 'backend' && type === 'Z' && connection === listening;
  };
}

describe('a worker that hears nothing any more', () => {
  it('starts what was published at another node within a second', async (t) => {
    await using database = await freshDatabase();
    await using proxy = await startProxy(database.url);
    await using api = await startNode({ url: database.url, name: 'api', role: 'api' });
    const held = proxy.hold('after', listensNow());
    await using worker = await startNode({ url: proxy.url, name: 'worker', role: 'worker' });
    await held;

    const cameMs = new Map<string, number>();
    await using receiver = await receive((request) => {
      cameMs.set(header(request, 'webhook-id'), performance.now());
      return 200;
    });
    await subscribe(api, receiver.url);
    const tookMs: number[] = [];
    for (let i = 1; i <= events; i += 1) {
      // A lane that was busy a moment ago is looked at again in any case; so it must be at rest.
      await until(
        async () => database.query(`select no from ringback.lane where ready_ms < ${never}`),
        (ready) => ready.length === 0,
      );
      const { eventId } = await publish(api, 'order.created');
      const answeredMs = performance.now();
      await receiver.waitFor(i);
      tookMs.push((cameMs.get(eventId) ?? Infinity) - answeredMs);
    }
    const sorted = tookMs.toSorted((a, b) => a - b).map(Math.round);
    t.diagnostic(`from the answer to the callback, in ms: ${sorted.join(' ')}`);
    assert.ok((sorted[events / 2] ?? Infinity) <= startsWithinMs, `they took ${sorted.join(' ')}`);
    assert.equal(worker.err(), '', 'it never noticed');
  });
});
