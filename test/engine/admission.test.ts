// Admission by numbers and times alone. Over sockets: test/api/admission.test.ts; under a flood:
// test/e2e/overload.test.ts.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { limits } from '../../src/core/limits/limits.ts';
import {
  createAdmission,
  type Admission,
  type LoadKind,
  type Ticket,
} from '../../src/engine/admission/admission.ts';
import { frozenWorld, type FrozenWorld } from '../api/frozen-world.ts';

/** The share of an app that is alone. */
const publishesOfOneApp =
  (limits.publishesInFlightMax / (limits.appShareTimes + 1)) * limits.appShareTimes;

interface Stage {
  world: FrozenWorld;
  admission: Admission;
  /** Enters requests until one is refused; publishes as one app that is known at the door. */
  fill: (kind: LoadKind, bytes?: number) => Ticket[];
}

function stage(): Stage {
  const world = frozenWorld();
  const admission = createAdmission(world);
  const fill: Stage['fill'] = (kind, bytes = 100) => {
    const tickets: Ticket[] = [];
    for (;;) {
      const ticket = admission.enter(kind, bytes, 1);
      if (ticket?.expect(bytes) !== true) return tickets;
      tickets.push(ticket);
    }
  };
  return { world, admission, fill };
}

describe('enter', () => {
  it('has separate room for publishes, other changes and reads', () => {
    const { admission, fill } = stage();
    assert.equal(fill('publish').length, publishesOfOneApp);
    assert.equal(fill('read').length, limits.readsInFlightMax);
    assert.equal(fill('change').length, limits.changesInFlightStart);
    const { refused } = admission.statistics();
    assert.deepEqual(refused, { publish: 1, read: 1, change: 1, end: 0 });
  });

  it('leaves room for reads of another app, however many one app requests', () => {
    const { admission } = stage();
    const readsOf = (appNo: number, count: number): Ticket[] =>
      Array.from({ length: count }, () => admission.enter('read', 0)).filter(
        (ticket): ticket is Ticket => {
          if (ticket?.ownedBy(appNo) === true) return true;
          ticket?.finish();
          return false;
        },
      );
    const most = limits.readsInFlightMax;
    const first = readsOf(1, 2 * most);
    assert.equal(first.length, most / 2);
    const second = readsOf(2, 2 * most);
    assert.equal(second.length, most / 4);
    assert.equal(readsOf(3, 1).length, 1, 'and for one more');
    assert.equal(readsOf(1, 1).length, 0);
    for (const ticket of [...first, ...second]) ticket.finish();
    assert.equal(readsOf(2, 2 * most).length, most / 2, 'places that were left are free again');
  });

  it('admits unsubscribes when other changes are refused', () => {
    const { fill } = stage();
    const changes = fill('change').length;
    assert.equal(changes, limits.changesInFlightStart);
    assert.equal(fill('end').length, changes / 4);
  });

  it('has room again for each finished request, counted once', () => {
    const { admission, fill } = stage();
    const [first, second] = fill('publish');
    first?.finish();
    first?.finish();
    second?.begin();
    second?.finish();
    assert.equal(fill('publish').length, 2);
    assert.equal(admission.statistics().inFlight.publish, publishesOfOneApp);
  });

  it('bounds the bytes of large bodies, and still admits small ones', () => {
    const { fill } = stage();
    const large = fill('publish', limits.bodyBytesMax);
    assert.equal(large.length, limits.bytesInFlightMax / limits.bodyBytesMax);
    assert.equal(
      fill('publish', limits.smallBodyBytes).length,
      publishesOfOneApp - large.length * limits.publishPlacesOfLarge,
    );
    for (const ticket of large) ticket.finish();
    assert.equal(fill('publish', limits.bodyBytesMax).length > 0, true);
  });

  it('reserves no room for a body before its sender is known', () => {
    const { admission, fill } = stage();
    for (let each = 0; each < 100; each += 1) admission.enter('change', limits.bodyBytesMax);
    assert.equal(admission.statistics().bytes, 0);
    assert.equal(fill('publish', limits.bodyBytesMax).length, 32);
  });

  it('counts neither a request whose body arrives slowly nor its bytes', () => {
    const { world, admission, fill } = stage();
    const reads = fill('read').length;
    const [large] = fill('publish', limits.bodyBytesMax);
    world.advance(limits.arrivalMs);
    assert.equal(fill('read').length, reads);
    assert.equal(fill('publish', limits.bodyBytesMax).length, 32);
    assert.equal(admission.statistics().lateBytes, limits.bytesInFlightMax);
    large?.finish();
    assert.equal(admission.statistics().lateBytes, limits.bytesInFlightMax - limits.bodyBytesMax);
  });

  it('readmits a late request only if there is room', () => {
    const { world, admission, fill } = stage();
    const late = fill('read');
    world.advance(limits.arrivalMs);
    const [working, ...others] = fill('read');
    for (const ticket of others) ticket.begin();
    const [first, second] = late;
    assert.equal(first?.begin(), false);
    first?.finish();
    working?.finish();
    assert.equal(second?.begin(), true);
    assert.equal(late[2]?.begin(), false);
    assert.equal(admission.statistics().inFlight.read, limits.readsInFlightMax);
    assert.equal(admission.statistics().refused.read, 4);
    second?.finish();
    assert.equal(admission.statistics().inFlight.read, limits.readsInFlightMax - 1);
  });

  it('gives late large bodies their bytes only if there are any left', () => {
    const { world, admission, fill } = stage();
    const [late] = fill('publish', limits.bodyBytesMax);
    world.advance(limits.arrivalMs);
    const [other] = fill('publish', limits.bodyBytesMax);
    assert.equal(late?.begin(), false);
    other?.finish();
    assert.equal(late?.begin(), true);
    assert.equal(admission.statistics().bytes, limits.bytesInFlightMax);
  });

  it('bounds the bytes of slow requests; beyond that they count as before', () => {
    const { world, admission, fill } = stage();
    for (let each = 0; each < 3; each += 1) {
      fill('publish', limits.bodyBytesMax);
      world.advance(limits.arrivalMs);
    }
    assert.equal(fill('publish', limits.bodyBytesMax).length, 0);
    const { bytes, lateBytes } = admission.statistics();
    assert.deepEqual([bytes, lateBytes], [limits.bytesInFlightMax, limits.lateBytesMax]);
  });

  it('refuses reads, and nothing else, while too many answers are unread', () => {
    const { admission, fill } = stage();
    const half = limits.unreadBytesMax / 2;
    const [first, second, third] = fill('read');
    first?.answer({ bytes: half, isPublic: false, cut: assert.fail });
    second?.answer({ bytes: half, isPublic: false, cut: assert.fail });
    assert.equal(admission.enter('read', 0), undefined);
    assert.notEqual(admission.enter('publish', 100), undefined);
    first?.finish();
    first?.finish();
    assert.equal(admission.statistics().unreadBytes, half);
    assert.notEqual(admission.enter('read', 0), undefined);
    third?.finish();
    third?.answer({ bytes: half, isPublic: false, cut: assert.fail });
    assert.equal(admission.statistics().unreadBytes, half, 'its reader was gone before');
  });

  it('cuts off the slowest readers, oldest first and no more than necessary', () => {
    const { world, admission, fill } = stage();
    const cut: number[] = [];
    for (const [index, ticket] of fill('read').slice(0, 4).entries()) {
      const goes = (): void => {
        cut.push(index);
        ticket.finish();
      };
      ticket.answer({ bytes: limits.unreadBytesMax / 2, isPublic: false, cut: goes });
      world.advance(1);
    }
    world.advance(limits.unreadMs - 5);
    assert.equal(admission.enter('read', 0), undefined);
    assert.deepEqual(cut, []);
    world.advance(5);
    assert.notEqual(admission.enter('read', 0), undefined);
    assert.deepEqual(cut, [0, 1, 2]);
    assert.equal(admission.statistics().unreadBytes, limits.unreadBytesMax / 2);
  });

  it('refuses no one because of unread public answers: the oldest of these is cut off', () => {
    const { admission, fill } = stage();
    const cut: number[] = [];
    const half = limits.unreadPublicBytesMax / 2;
    for (const [index, ticket] of fill('read').entries()) {
      ticket.answer({ bytes: half, isPublic: true, cut: () => cut.push(index) });
    }
    assert.notEqual(admission.enter('read', 0), undefined);
    assert.equal(admission.statistics().unreadBytes, half);
    assert.deepEqual(cut.slice(0, 3), [0, 1, 2]);
    assert.equal(cut.length, limits.readsInFlightMax - 1);
  });

  it('admits fewer publishes while they are slow, and more when they are not', () => {
    const { world, admission, fill } = stage();
    const work = (tookMs: number): number => {
      const tickets = fill('publish');
      for (const ticket of tickets) ticket.begin();
      world.advance(tookMs);
      for (const ticket of tickets) ticket.finish();
      return tickets.length;
    };
    const counts = [work(limits.publishWaitMs + 1), work(100), work(100), work(100)];
    const fallen = limits.publishesInFlightMax * 0.75;
    const most = publishesOfOneApp;
    assert.deepEqual(counts, [most, fallen, fallen * 1.125, most]);
    // One that is still in progress counts as well.
    const [stuck] = fill('publish');
    stuck?.begin();
    const before = admission.statistics().publishLimit;
    world.advance(limits.publishWaitMs + 1);
    assert.ok(admission.statistics().publishLimit < before);
    // A slow moment is forgotten, although nothing was refused since.
    stuck?.finish();
    world.advance(limits.admissionLookMs);
    assert.ok(admission.statistics().publishLimit < before, 'it took long until now');
    world.advance(30_000);
    assert.equal(admission.statistics().publishLimit, limits.publishesInFlightMax);
  });
});

describe('changed', () => {
  const start = limits.changesInFlightStart;

  it('lets fewer changes in while the store takes long for them, and more when it does not', () => {
    const { world, admission, fill } = stage();
    const next = (tookMs: number): number => {
      admission.changed(tookMs);
      world.advance(limits.admissionLookMs);
      return admission.statistics().changeLimit;
    };
    assert.equal(next(limits.changeWaitMs + 1), start * 0.75);
    const tickets = fill('change');
    assert.equal(tickets.length, start * 0.75);
    assert.equal(fill('end').length, (start * 0.75) / 4, 'what ends something has its share more');
    assert.equal(next(limits.changeWaitMs), start * 0.75 * 1.125, 'some were turned away');
    for (const ticket of tickets) ticket.finish();
    for (let i = 0; i < 100; i += 1) next(limits.changeWaitMs + 1);
    assert.equal(admission.statistics().changeLimit, limits.changesInFlightMin);
    world.advance(120_000);
    assert.equal(admission.statistics().changeLimit, limits.changesInFlightMax);
  });

  it('says nothing of publishes, and a change that waits for others says nothing of itself', () => {
    const { world, admission, fill } = stage();
    admission.changed(limits.changeWaitMs + 1);
    for (const ticket of fill('change').slice(0, 2)) ticket.begin();
    world.advance(limits.admissionLookMs);
    const limited = admission.statistics();
    assert.equal(limited.publishLimit, limits.publishesInFlightMax);
    world.advance(10 * limits.changeWaitMs);
    assert.ok(admission.statistics().changeLimit > limited.changeLimit);
  });
});

describe('changes of several apps', () => {
  function flood(admission: Admission, kind: LoadKind, appNo: number): Ticket[] {
    const tickets: Ticket[] = [];
    for (;;) {
      const ticket = admission.enter(kind, 100);
      if (ticket?.ownedBy(appNo) === true) tickets.push(ticket);
      else {
        ticket?.finish();
        return tickets;
      }
    }
  }

  it('leave room for another one, and what ends something has more', () => {
    const { admission } = stage();
    const start = limits.changesInFlightStart;
    assert.equal(flood(admission, 'change', 1).length, (start / 8) * 7);
    assert.equal(flood(admission, 'change', 2).length, (start / 64) * 7);
    assert.ok(flood(admission, 'end', 1).length > 0);
    assert.ok(flood(admission, 'end', 3).length > 0);
  });
});

describe('publishes of several apps', () => {
  const most = limits.publishesInFlightMax;

  /**
   * Enters publishes of an app until one is refused; the app is known at the door, or only once the
   * key is checked.
   */
  function flood(admission: Admission, appNo: number, isKnown: boolean): Ticket[] {
    const tickets: Ticket[] = [];
    for (;;) {
      const ticket = admission.enter('publish', 100, isKnown ? appNo : undefined);
      if (ticket === undefined) return tickets;
      if (!ticket.ownedBy(appNo) || !ticket.expect(100)) {
        ticket.finish();
        return tickets;
      }
      tickets.push(ticket);
    }
  }

  for (const isKnown of [true, false]) {
    it(`leave room for another app, ${isKnown ? 'known by its connection' : 'known by its key'}`, () => {
      const { admission } = stage();
      const flooding = flood(admission, 1, isKnown);
      assert.equal(flooding.length, (most / 8) * 7);
      assert.equal(flood(admission, 2, isKnown).length, most / 2, 'its equal part');
      assert.equal(flood(admission, 3, isKnown).length, Math.floor(most / 3));
      for (const ticket of flooding) ticket.finish();
      assert.equal(flood(admission, 1, isKnown).length, Math.floor(most / 3));
    });

    it(`lower the limit of their own app only, ${isKnown ? 'known by its connection' : 'known by its key'}`, () => {
      const { admission, world } = stage();
      const [slow, ...others] = flood(admission, 1, isKnown);
      for (const ticket of [slow, ...others]) ticket?.begin();
      while (admission.statistics().publishLimit > limits.publishesInFlightMin) {
        world.advance(limits.publishWaitMs + 1);
      }
      for (const ticket of flood(admission, 2, isKnown)) ticket.finish();
      assert.equal(flood(admission, 2, isKnown).length, most / 2);
      for (const ticket of others) ticket.finish();
      assert.equal(flood(admission, 1, isKnown).length, limits.publishesInFlightMin - 1);
    });
  }

  it('count several times if their bodies are large, which leaves fewer of a flood of batches', () => {
    const { admission, fill } = stage();
    const batches = fill('publish', limits.smallBodyBytes + 1);
    assert.equal(batches.length, publishesOfOneApp / limits.publishPlacesOfLarge);
    assert.equal(admission.statistics().inFlight.publish, batches.length);
    for (const ticket of batches) ticket.finish();
    assert.equal(fill('publish').length, publishesOfOneApp);
  });

  it('wait for the check of their key in places of their own', () => {
    const { admission } = stage();
    const unknown = Array.from({ length: 2 * most }, () => admission.enter('publish', 100));
    assert.equal(unknown.includes(undefined), false);
    assert.equal(flood(admission, 1, true).length, publishesOfOneApp);
    let more = unknown.length;
    while (admission.enter('publish', 100) !== undefined) more += 1;
    assert.equal(more, limits.publishesUnknownMax);
  });

  it('do not count once they are refused, though their answers may not have been read yet', () => {
    const { admission } = stage();
    const batch = limits.smallBodyBytes + 1;
    const arrived = Array.from({ length: 2 * most }, () => admission.enter('publish', batch));
    const letIn = arrived.filter((ticket) => ticket?.ownedBy(1) === true);
    assert.ok(letIn.length < arrived.length);
    assert.equal(flood(admission, 2, true).length, most / 2);
    for (const ticket of arrived) ticket?.finish();
    assert.equal(admission.statistics().inFlight.publish, most / 2);
  });

  it('have a bound, however many apps there are', () => {
    const { admission } = stage();
    let all = 0;
    for (let appNo = 1; appNo < 1_000; appNo += 1) all += flood(admission, appNo, true).length;
    assert.equal(all, 2 * limits.publishesInFlightMax);
  });

  it('count for the app of the key, whichever app used the connection before', () => {
    const { admission } = stage();
    flood(admission, 1, true);
    assert.equal(admission.enter('publish', 100, 1), undefined);
    const ticket = admission.enter('publish', 100, 2);
    assert.equal(ticket?.ownedBy(1), false);
    ticket?.finish();
    assert.equal(admission.statistics().inFlight.publish, (most / 8) * 7);
  });

  it('do not count any more when they are finished or late', () => {
    const { admission, world } = stage();
    const [first] = flood(admission, 1, true);
    first?.finish();
    assert.equal(flood(admission, 1, true).length, 1);
    world.advance(limits.arrivalMs);
    admission.statistics();
    assert.equal(flood(admission, 1, true).length, (most / 8) * 7);
  });
});
