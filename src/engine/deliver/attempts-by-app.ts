// The attempts that each app has in flight, and how many more it may start. An attempt that takes
// too long counts as hanging, and so as one at risk. A lane is proven while its last attempt was
// answered in time.
import {
  claimSlots,
  creditAfterAnswer,
  freshSlots,
  creditAfterHang,
  newLaneSlots,
} from '../../core/load/share-formula.ts';
import { claimableSlots } from '../../core/load/share-formula.ts';
import type { AppLoad, AppSlots } from '../../core/load/share-formula.ts';
import { limits } from '../../core/limits/limits.ts';
import { NewestMap } from '../../core/base/newest-map.ts';
import { LinkedList, type Link } from '../../core/base/linked-list.ts';
import type { AppRoom } from '../../store/port/delivery-verbs.ts';

/** An attempt that holds a slot of the window. */
export interface InFlight extends Link<InFlight> {
  readonly lane: number;
  readonly share: Share;
  readonly sinceMs: number;
  isAtRisk: boolean;
  isHanging: boolean;
}

export interface Share extends AppLoad {
  readonly appNo: number;
  readonly proven: NewestMap<number, true>;
  /** What is left of the last offer, by the store's count, and the number of that offer. */
  offered: AppRoom;
  offeredIn: number;
  /**
   * The store found no room for the app, so deliveries of it may still be pending: in any lane, or
   * in unproven ones.
   */
  isOut: { room: boolean; unproven: boolean };
}

export interface StartedAttempt {
  appNo: number;
  lane: number;
  nowMs: number;
  /** As of the last offer. */
  wasProven: boolean;
}

export class AppShares {
  /**
   * Apps named in offers: those with attempts in flight, and the latest idle ones that have credit.
   */
  readonly #active = new Map<number, Share>();
  readonly #idleWithCredit = new Set<Share>();
  readonly #idle = new NewestMap<number, Share>(limits.appsIdleMax);
  /** Apps that are out of room. */
  readonly #outOfRoom = new Set<Share>();
  /** Oldest first; attempts that hang are removed. */
  readonly #notHanging = new LinkedList<InFlight>();
  #size = 0;
  #offers = 0;
  #appRoom: AppRoom = { room: limits.windowMax, unproven: limits.windowMax, laneRoom: 1 };

  /** Attempts in flight, of all apps. */
  size(): number {
    return this.#size;
  }

  active(): Iterable<Share> {
    return this.#active.values();
  }

  /** What each app may take. Apps that are not listed get `appRoom`. */
  offer(to: 'fresh' | 'claimed'): { apps: Map<number, AppRoom>; appRoom: AppRoom } {
    const free = this.#free();
    const roomOf = (load: AppLoad): AppRoom => {
      const fresh = freshSlots(load, free);
      const slots = to === 'fresh' ? fresh : claimableSlots(fresh);
      return { ...slots, laneRoom: newLaneSlots(fresh) };
    };
    this.#offers += 1;
    this.#appRoom = roomOf(idleLoad);
    const apps = new Map<number, AppRoom>();
    for (const share of this.#active.values()) {
      const room = roomOf(share);
      apps.set(share.appNo, room);
      share.offered = { ...room };
      share.offeredIn = this.#offers;
      this.#noteOutOfRoom(share, claimSlots(share, free));
    }
    return { apps, appRoom: this.#appRoom };
  }

  enter({ appNo, lane, nowMs, wasProven }: StartedAttempt): InFlight {
    const share = this.#shareOf(appNo);
    const isAtRisk = !share.proven.has(lane);
    const attempt: InFlight = { ...inNoList, lane, share, sinceMs: nowMs, isAtRisk };
    share.inFlight += 1;
    if (isAtRisk) share.atRisk += 1;
    share.offered.room -= 1;
    if (!wasProven) share.offered.unproven -= 1;
    this.#noteOutOfRoom(share, claimableSlots(share.offered));
    this.#size += 1;
    this.#notHanging.add(attempt);
    return attempt;
  }

  /**
   * `hasRoomAgain`: an app that the store had found to be full has room again, so its pending
   * deliveries should be claimed.
   */
  leave(attempt: InFlight, result: 'success' | 'failure' | 'neither'): { hasRoomAgain: boolean } {
    const { share, lane, isAtRisk, isHanging } = attempt;
    this.#notHanging.remove(attempt);
    this.#size -= 1;
    share.inFlight -= 1;
    if (isAtRisk) share.atRisk -= 1;
    if (result === 'failure') share.proven.delete(lane);
    if (result === 'success' && !isHanging) {
      share.proven.set(lane, true);
      if (isAtRisk) share.credit = creditAfterAnswer(share.credit);
    }
    const hasRoomAgain = this.hasRoomAgain();
    if (share.inFlight === 0) this.#becomeIdle(share);
    return { hasRoomAgain };
  }

  /**
   * The same after taking the deliveries of the last offer: slots may have been freed in the
   * meantime.
   */
  hasRoomAgain(): boolean {
    let hasRoom = false;
    for (const share of this.#outOfRoom) {
      const { isOut } = share;
      const { room, unproven } = claimSlots(share, this.#free()); // Pending deliveries are claimed, so claim slots count.
      if ((isOut.room && room > 0) || (isOut.unproven && unproven > 0)) hasRoom = true;
      if (room > 0) isOut.room = false;
      if (unproven > 0) isOut.unproven = false;
      if (!isOut.room && !isOut.unproven) this.#outOfRoom.delete(share);
    }
    return hasRoom;
  }

  /** Marks attempts that have been in flight for too long as hanging; returns their lanes. */
  findHanging(nowMs: number): number[] {
    const lanes: number[] = [];
    for (let one = this.#notHanging.first; one !== undefined; one = this.#notHanging.first) {
      if (nowMs - one.sinceMs < limits.attemptHangsMs) break;
      this.#notHanging.remove(one);
      const { share, lane } = one;
      if (!one.isAtRisk) share.atRisk += 1;
      one.isAtRisk = true;
      one.isHanging = true;
      share.credit = creditAfterHang(share.credit);
      share.proven.delete(lane);
      lanes.push(lane);
    }
    return lanes;
  }

  #free(): number {
    return limits.windowMax - this.#size;
  }

  #noteOutOfRoom(share: Share, { room, unproven }: AppSlots): void {
    if (room > 0 && unproven > 0) return;
    if (room <= 0) share.isOut.room = true;
    if (unproven <= 0) share.isOut.unproven = true;
    this.#outOfRoom.add(share);
  }

  #shareOf(appNo: number): Share {
    const share = this.#active.get(appNo) ?? this.#idle.get(appNo) ?? newShare(appNo);
    if (share.offeredIn !== this.#offers) share.offered = { ...this.#appRoom };
    share.offeredIn = this.#offers;
    if (share.inFlight > 0) return share;
    this.#idleWithCredit.delete(share);
    this.#idle.delete(appNo);
    this.#active.set(appNo, share);
    return share;
  }

  /** An idle app that has credit stays in the offers for a while. */
  #becomeIdle(share: Share): void {
    this.#idleWithCredit.add(share);
    if (share.credit === 0) this.#dropFromOffers(share);
    const [longest] = this.#idleWithCredit;
    const isTooMany = this.#idleWithCredit.size > limits.appsIdleNamedMax;
    if (isTooMany && longest !== undefined) this.#dropFromOffers(longest);
  }

  #dropFromOffers(share: Share): void {
    this.#idleWithCredit.delete(share);
    this.#outOfRoom.delete(share);
    share.isOut = { room: false, unproven: false };
    this.#active.delete(share.appNo);
    this.#idle.set(share.appNo, share);
  }
}

const inNoList = { before: undefined, after: undefined, isHanging: false };
const idleLoad: AppLoad = { inFlight: 0, atRisk: 0, credit: 0 };

function newShare(appNo: number): Share {
  const offered = { room: 0, unproven: 0, laneRoom: 1 };
  const isOut = { room: false, unproven: false };
  const proven = new NewestMap<number, true>(limits.lanesProvenMax);
  return { appNo, ...idleLoad, offeredIn: -1, proven, offered, isOut };
}
