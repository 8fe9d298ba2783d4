// The journal records changes of watched apps, and of no others.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { emptyDigest, noCounts } from '../../src/core/domain/change-digest.ts';
import { limits } from '../../src/core/limits/limits.ts';
import { createJournal, type Journal } from '../../src/engine/live/journal.ts';

const event = 'e'.repeat(26);
const id = (n: number): string => `dlv_${event}_${n}`;

/** A journal that records app 1 and has reported its start. */
function begun(): Journal {
  const journal = createJournal();
  journal.begin(1);
  journal.take(9);
  return journal;
}

describe('createJournal', () => {
  it('records nothing of apps that no client watches', () => {
    const journal = createJournal();
    journal.changes.published(1, [{ id: event, deliveries: 3 }]);
    journal.changes.settled(1, { event, n: 0 }, 'delivered');
    journal.changes.subscription(1, 's');
    journal.changes.missed();
    assert.equal(journal.isNoted(), false);
    assert.deepEqual(journal.take(9), []);
  });

  it('begins with a reset, because earlier changes are unknown', () => {
    const journal = createJournal();
    journal.begin(1);
    assert.deepEqual(journal.take(9), [{ appNo: 1, digest: { ...emptyDigest, isReset: true } }]);
    journal.begin(1);
    assert.deepEqual(journal.take(9), [], 'it was recording already');
    journal.end(1);
    journal.changes.subscription(1, 's');
    journal.begin(1);
    assert.equal(journal.take(9)[0]?.digest.isReset, true);
  });

  it('counts the outcomes of deliveries, and names each once, newest change last', () => {
    const journal = begun();
    journal.changes.published(1, [
      { id: event, deliveries: 3 },
      { id: 'f'.repeat(26), deliveries: undefined },
    ]);
    journal.changes.settled(1, { event, n: 0 }, 'retry');
    journal.changes.settled(1, { event, n: 1 }, 'gone');
    journal.changes.settled(1, { event, n: 0 }, 'delivered');
    journal.changes.settled(1, { event, n: 2 }, 'released');
    journal.changes.moved(1, { event, n: 1 });
    const [noted] = journal.take(9);
    assert.deepEqual(noted?.digest, {
      ...emptyDigest,
      counts: { ...noCounts, published: 2, retried: 1, cancelled: 1, delivered: 1 },
      deliveries: [id(0), id(2), id(1)],
    });
    assert.deepEqual(journal.take(9), []);
  });

  it('names no more deliveries than a frame shows, and counts the rest', () => {
    const journal = begun();
    journal.changes.published(1, [{ id: event, deliveries: 250 }]);
    for (let n = 300; n < 330; n += 1) journal.changes.moved(1, { event, n });
    const [noted] = journal.take(9);
    const last = Array.from({ length: limits.frameDeliveriesMax }, (_, at) => id(310 + at));
    assert.deepEqual(noted?.digest.deliveries, last);
    assert.equal(noted.digest.more, 250 + 30 - limits.frameDeliveriesMax);
    for (let no = 0; no <= limits.frameSubscriptionsMax; no += 1) {
      journal.changes.subscription(1, `s${no}`);
    }
    const [more] = journal.take(9);
    assert.equal(more?.digest.subscriptions.length, limits.frameSubscriptionsMax);
    assert.equal(more.digest.isReset, true, 'subscriptions beyond that are not counted');
  });

  it('notifies once that there is something to take, until it is taken', () => {
    const journal = begun();
    let told = 0;
    journal.whenNoted(() => (told += 1));
    journal.changes.subscription(1, 'a');
    journal.changes.replay(1, 'b');
    assert.equal(told, 1);
    assert.deepEqual(journal.take(9)[0]?.digest.replays, ['b']);
    journal.changes.missed();
    assert.equal(told, 2);
  });

  it('returns a bounded number of apps at a time, each once', () => {
    const journal = createJournal();
    for (const appNo of [1, 2, 3]) journal.begin(appNo);
    assert.deepEqual(
      journal.take(2).map(({ appNo }) => appNo),
      [1, 2],
    );
    assert.deepEqual(
      journal.take(2).map(({ appNo }) => appNo),
      [3],
    );
    assert.equal(journal.isNoted(), false);
  });
});
