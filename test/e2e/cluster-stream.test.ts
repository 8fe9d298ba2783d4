// The live view of a cluster: deliveries of one node appear in the stream of another.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openStream, sumOf, type SentEvent } from '../api/stream-client.ts';
import { freshDatabase } from '../postgres/database.ts';
import { startNodes } from './cluster.ts';
import { receive } from './receiver.ts';
import { publish, subscribe, until } from './stage.ts';

const events = 50;

describe('a stream of a cluster', () => {
  it('reports the activity of other nodes, and can be resumed at another node', async () => {
    await using database = await freshDatabase();
    await using cleanup = new AsyncDisposableStack();
    const nodes = await startNodes(database.url, { front: 'api', other: 'api', back: 'worker' });
    const [front, other] = nodes.map((node) => cleanup.use(node));
    assert(front && other);
    await using receiver = await receive();
    await subscribe(front, receiver.url);
    using stream = await openStream(front.url, front);
    assert.equal((await stream.next()).data.isReset, false);
    // Each of the other nodes first reports that it has begun to write the change feed.
    const noting = 'select distinct node from ringback.change_feed';
    await until(
      async () => database.query(noting),
      (rows) => rows.length === nodes.length,
    );
    const before: SentEvent[] = [];
    await publish(other, 'first');
    while (sumOf(before, 'delivered') + sumOf(before, 'published') < 2) {
      before.push(await stream.next());
    }
    assert(before.some(({ data }) => data.isReset));
    let lastEventId: string | undefined;
    for (let count = 0; count < events; count += 1) await publish(other, 'order.created');
    const first = await stream.until((event) => {
      lastEventId = event.id;
      return event.data.counts.delivered > 0;
    });
    stream[Symbol.dispose]();
    await receiver.answered(1 + events);
    using again = await openStream(other.url, { ...other, ...(lastEventId && { lastEventId }) });
    const seen = [...first];
    while (sumOf(seen, 'delivered') < events || sumOf(seen, 'published') < events) {
      seen.push(await again.next());
    }
    assert.equal(sumOf(seen, 'published'), events);
    assert.equal(sumOf(seen, 'delivered'), events);
    assert(seen.every(({ data }) => !data.isReset));
  });
});
