// How much of a node's window one app may use: a dynamic threshold (Choudhury and Hahne, 1998). An app may have as
// many attempts in flight as a multiple of the slots that are still free, so a part of the window is always left for
// the next app, and no app has to be counted or configured. Pure. docs/decisions/0030 has the reasons.
import { limits } from './limits.ts';

export interface AppLoad {
  inFlight: number;
  /** Of these, attempts that may hold their slot for long: they hang, or go to a lane that is not proven. */
  atRisk: number;
  /** Attempts at risk that its receivers have earned it: see `earned` and `lost`. */
  credit: number;
}

/** Slots that an app may take now. */
export interface AppSlots {
  room: number;
  /** Of these, for lanes whose receiver has not answered in time lately. */
  unproven: number;
}

/** For fresh deliveries. `free`: slots of the window that no attempt holds. */
export function freshSlots({ inFlight, atRisk, credit }: AppLoad, free: number): AppSlots {
  const times = limits.appShareTimes;
  const room = Math.max(Math.floor((times * free - inFlight) / (times + 1)), 0);
  const trial = Math.max((free - atRisk) >> 1, credit - atRisk, 0);
  return { room, unproven: Math.min(room, trial) };
}

/**
 * For claimed ones: a part of the window stays free for fresh events, and a part of what an app has for unproven lanes
 * does. But an app with few attempts in flight may always claim some.
 */
export function claimSlots(load: AppLoad, free: number): AppSlots {
  const { room, unproven } = freshSlots(load, free);
  const claimable = Math.min(room, claimableOf(load.inFlight, free));
  return { room: claimable, unproven: Math.min(claimable, Math.max(unproven - (free >> 3), 0)) };
}

/** What an app with so many in flight may claim, if its share allows it. */
export function claimableOf(inFlight: number, free: number): number {
  const kept = limits.windowMax - limits.windowClaimedMax;
  return Math.max(free - kept, Math.min(limits.appClaimMin - inFlight, free), 0);
}

/** What a new lane of an app gets at first: less, the fewer slots are left for such lanes. */
export function newLaneSlots({ unproven }: AppSlots): number {
  return Math.max(Math.min(limits.laneCapStart, unproven >> 4), 1);
}

/** An unproven receiver has answered in time. */
export function earned(credit: number): number {
  return Math.min(credit + 1, limits.appCreditMax);
}

/** An attempt hangs. */
export function lost(credit: number): number {
  return Math.max(credit - limits.appCreditLost, 0);
}
