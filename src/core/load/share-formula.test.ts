import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  claimSlots,
  creditAfterAnswer,
  freshSlots,
  creditAfterHang,
  newLaneSlots,
  type AppLoad,
} from './share-formula.ts';
import { limits } from '../limits/limits.ts';

const window = limits.windowMax;
const idle: AppLoad = { inFlight: 0, atRisk: 0, credit: 0 };

/**
 * Starts attempts to receivers that never answer, one at a time, until the app gets no more slots.
 */
function fill(others: number, take: typeof freshSlots): number {
  let held = 0;
  while (take({ inFlight: held, atRisk: held, credit: 0 }, window - others - held).unproven > 0) {
    held += 1;
  }
  return held;
}

describe('freshSlots', () => {
  it('gives a single app nearly the whole window, and leaves an eighth for the next app', () => {
    assert.equal(freshSlots(idle, window).room, (window / 8) * 7);
    const full = { inFlight: (window / 8) * 7, atRisk: 0, credit: 0 };
    assert.equal(freshSlots(full, window / 8).room, 0);
    assert.ok(freshSlots(idle, window / 8).room >= window / 10, 'which may take it');
  });

  it('gives an app whose receivers never answer half of the slots that others leave', () => {
    assert.equal(fill(0, freshSlots), window / 2);
    assert.equal(fill(window / 2, freshSlots), window / 4);
  });

  it('lets an app try as many new receivers as it has receivers that answered in time', () => {
    const good = { inFlight: 150, atRisk: 150, credit: limits.appCreditMax };
    assert.equal(freshSlots(good, window - 150).unproven, limits.appCreditMax - 150);
    assert.equal(freshSlots({ ...good, credit: 0 }, window - 150).unproven, 0);
  });
});

describe('claimSlots', () => {
  it('leaves room for fresh events, in the window and for unproven lanes of the app', () => {
    const used = limits.windowClaimedMax;
    const load = { inFlight: used, atRisk: 0, credit: 0 };
    assert.equal(claimSlots(load, window - used).room, 0);
    assert.ok(freshSlots(load, window - used).room > 0);
    const held = fill(0, claimSlots);
    assert.ok(freshSlots({ inFlight: held, atRisk: held, credit: 0 }, window - held).unproven > 8);
  });

  it('lets an app with few attempts in flight claim some, however many others have', () => {
    assert.equal(claimSlots(idle, window - limits.windowClaimedMax - 10).room, limits.appClaimMin);
  });
});

describe('newLaneSlots', () => {
  it('gives a new lane fewer slots the fewer are left for unproven lanes, but always one', () => {
    const slots = [128, 64, 16, 0].map((unproven) => newLaneSlots({ room: 128, unproven }));
    assert.deepEqual(slots, [limits.laneCapStart, limits.laneCapStart / 2, 1, 1]);
  });
});

describe('credit', () => {
  it('grows with each timely answer and shrinks much faster, within bounds', () => {
    assert.equal(creditAfterAnswer(0), 1);
    assert.equal(creditAfterAnswer(limits.appCreditMax), limits.appCreditMax);
    assert.equal(creditAfterHang(100), 100 - limits.appCreditLost);
    assert.equal(creditAfterHang(3), 0);
  });
});
