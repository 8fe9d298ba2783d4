// How much of a node's window one app may use: a dynamic threshold (Choudhury and Hahne, 1998). An
// app may have as many attempts in flight as a multiple of the slots that are still free. So part
// of the window is always left for the next app, and apps need not be counted or configured. Pure.
// docs/decisions/0030 has the reasons.
import { limits } from '../limits/limits.ts';

export interface AppLoad {
  inFlight: number;
  /**
   * Attempts among them that may hold their slot for long: they hang, or go to an unproven lane.
   */
  atRisk: number;
  /** How many attempts at risk the app's receivers have earned: see `creditAfterAnswer` and `creditAfterHang`. */
  credit: number;
}

/** Slots that an app may take now. */
export interface AppSlots {
  room: number;
  /** Slots among them for lanes whose receiver has not answered in time recently. */
  unproven: number;
  /** The part of `room` and of `unproven` that is reserved for fresh deliveries: claims may not take it. */
  kept?: Pick<AppSlots, 'room' | 'unproven'>;
}

/** Slots for fresh deliveries, some of which claims may not take. `free`: slots of the window that no attempt holds. */
export function freshSlots({ inFlight, atRisk, credit }: AppLoad, free: number): AppSlots {
  const times = limits.appShareTimes;
  const room = Math.max(Math.floor((times * free - inFlight) / (times + 1)), 0);
  const trial = Math.max((free - atRisk) >> 1, credit - atRisk, 0);
  const unproven = Math.min(room, trial);
  const claimable = Math.min(room, claimableMax(inFlight, free));
  const ofUnproven = Math.min(claimable, Math.max(unproven - (free >> 3), 0));
  return { room, unproven, kept: { room: room - claimable, unproven: unproven - ofUnproven } };
}

/**
 * Slots for claimed deliveries. Part of the window stays free for fresh events, and so does part of
 * the app's slots for unproven lanes. An app with few attempts in flight may always claim some.
 */
export function claimSlots(load: AppLoad, free: number): AppSlots {
  return claimableSlots(freshSlots(load, free));
}

/** What is left for claims. */
export function claimableSlots({ room, unproven, kept }: AppSlots): AppSlots {
  return { room: room - (kept?.room ?? 0), unproven: unproven - (kept?.unproven ?? 0) };
}

/** How many deliveries an app with `inFlight` attempts may claim, if its share allows it. */
export function claimableMax(inFlight: number, free: number): number {
  const kept = limits.windowMax - limits.windowClaimedMax;
  return Math.max(free - kept, Math.min(limits.appClaimMin - inFlight, free), 0);
}

/** Slots that a new lane of an app starts with: fewer when fewer are left for unproven lanes. */
export function newLaneSlots({ unproven }: AppSlots): number {
  return Math.max(Math.min(limits.laneCapStart, unproven >> 4), 1);
}

/** The credit after an unproven receiver has answered in time. */
export function creditAfterAnswer(credit: number): number {
  return Math.min(credit + 1, limits.appCreditMax);
}

/** The credit after an attempt was found to hang. */
export function creditAfterHang(credit: number): number {
  return Math.max(credit - limits.appCreditLost, 0);
}
