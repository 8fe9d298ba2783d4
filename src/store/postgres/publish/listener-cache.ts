// Caches which callbacks match which event name. The cache is never trusted: the database is sent
// its fingerprints and says whether they still hold. If they have held several times in a row, a
// publish does not wait for that answer. In memory only, and bounded.
import { limits } from '../../../core/limits/limits.ts';
import type { Found } from '../../rules/listeners.ts';

/** The listeners of a name, with fingerprints by which a change is detected. */
export interface Hearers {
  appNo: number;
  /**
   * The app's version, which every change of what its events match raises; read before the rest.
   */
  version: number;
  listeners: readonly PrintedListener[];
}

/** A listener with the fingerprint of its lane. */
export interface PrintedListener extends Found {
  print: string;
}

/** The cached listeners of several names. */
export interface Steady {
  hearers: readonly Hearers[];
  /** By app, and by lane. */
  versions: ReadonlyMap<number, number>;
  prints: ReadonlyMap<number, string>;
}

export interface ListenerCache {
  /** The listeners of these names, if they have been the same for some time for all of them. */
  steady(names: readonly string[]): Steady | undefined;
  learn(name: string, hearers: Hearers): void;
  /** Call when the names are known to have changed. */
  forget(names: readonly string[]): void;
}

interface Remembered {
  hearers: Hearers;
  /** How many times in a row the answer was the same. */
  times: number;
}

export function createListenerCache(): ListenerCache {
  const remembered = new Map<string, Remembered>();
  return {
    steady: (names) => {
      const hearers: Hearers[] = [];
      for (const name of names) {
        const one = remembered.get(name);
        if (one === undefined || one.times < limits.heardSteadyTimes) return undefined;
        hearers.push(one.hearers);
      }
      return together(hearers);
    },
    learn: (name, hearers) => {
      const before = remembered.get(name);
      const times = before !== undefined && isSame(before.hearers, hearers) ? before.times + 1 : 0;
      remembered.delete(name);
      if (hearers.listeners.length > limits.heardListenersMax) return;
      remembered.set(name, { hearers, times });
      if (remembered.size <= limits.heardNamesMax) return;
      const [oldest = name] = remembered.keys();
      remembered.delete(oldest);
    },
    forget: (names) => {
      for (const name of names) remembered.delete(name);
    },
  };
}

/** Undefined if the answers were learned at different times and contradict each other. */
function together(hearers: readonly Hearers[]): Steady | undefined {
  const versions = new Map<number, number>();
  const prints = new Map<number, string>();
  for (const { appNo, version, listeners } of hearers) {
    if ((versions.get(appNo) ?? version) !== version) return undefined;
    versions.set(appNo, version);
    for (const { lane, print } of listeners) {
      if ((prints.get(lane.no) ?? print) !== print) return undefined;
      prints.set(lane.no, print);
    }
  }
  return { hearers, versions, prints };
}

function isSame(a: Hearers, b: Hearers): boolean {
  if (a.version !== b.version || a.listeners.length !== b.listeners.length) return false;
  return a.listeners.every(({ lane, print }, i) => {
    const other = b.listeners[i];
    return lane.no === other?.lane.no && print === other.print;
  });
}
