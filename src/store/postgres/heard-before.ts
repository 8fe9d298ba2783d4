// What a node remembers of who hears which name. It is never believed: the database is told what is remembered, and says
// whether it is still so. Where it has been the same a few times nobody waits to hear that. In memory only, and bounded.
import { limits } from '../../core/limits.ts';
import type { Found } from '../kept-filter.ts';

/** Who hears a name, and by what one can tell that this has not changed. */
export interface Hearers {
  appNo: number;
  /** The app's, which every change of what its events reach raises; read before the rest. */
  version: number;
  listeners: readonly PrintedListener[];
}

/** With the print of its lane. */
export interface PrintedListener extends Found {
  print: string;
}

/** Of several names. */
export interface Steady {
  hearers: readonly Hearers[];
  /** By app, and by lane. */
  versions: ReadonlyMap<number, number>;
  prints: ReadonlyMap<number, string>;
}

export interface HeardBefore {
  /** Who hears these names, if it was the same for all of them for some time. */
  steady(names: readonly string[]): Steady | undefined;
  learn(name: string, hearers: Hearers): void;
  /** It is not so any more. */
  forget(names: readonly string[]): void;
}

interface Remembered {
  hearers: Hearers;
  /** How often in a row it was the same as before. */
  times: number;
}

export function createHeardBefore(): HeardBefore {
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

/** Undefined: they were learned at different times, and do not fit each other. */
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
