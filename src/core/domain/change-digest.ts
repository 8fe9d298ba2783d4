// A summary of what changed in an app within a moment: counts, the newest changes by name, and how
// many more there were. Any number of digests merge into one, and none grows beyond its limits.
import { limits } from '../limits/limits.ts';

export interface Counts {
  /** Events that were accepted. */
  published: number;
  /** Deliveries that ended this way. */
  delivered: number;
  dead: number;
  cancelled: number;
  /** Attempts that failed and will be retried. */
  retried: number;
}

export interface Digest {
  counts: Counts;
  /** Ids of the deliveries that changed last, newest change last. */
  deliveries: readonly string[];
  /** Number of changed deliveries that are not listed. */
  more: number;
  /** Bare ids, newest change last. */
  subscriptions: readonly string[];
  replays: readonly string[];
  /** There may be changes that are not recorded here: readers must reload. */
  isReset: boolean;
}

export const noCounts: Counts = { published: 0, delivered: 0, dead: 0, cancelled: 0, retried: 0 };

export const emptyDigest: Digest = {
  counts: noCounts,
  deliveries: [],
  more: 0,
  subscriptions: [],
  replays: [],
  isReset: false,
};

export function mergeDigests(older: Digest, newer: Digest): Digest {
  const deliveries = newest(older.deliveries, newer.deliveries, limits.frameDeliveriesMax);
  return {
    counts: addCounts(older.counts, newer.counts),
    deliveries: deliveries.kept,
    more: older.more + newer.more + deliveries.left,
    ...mergeNamed(older, newer),
  };
}

export type NamedChanges = Pick<Digest, 'subscriptions' | 'replays' | 'isReset'>;

/** Dropped subscriptions are not counted, so dropping any makes the digest a reset. */
export function mergeNamed(older: NamedChanges, newer: NamedChanges): NamedChanges {
  const subscriptions = newest(
    older.subscriptions,
    newer.subscriptions,
    limits.frameSubscriptionsMax,
  );
  const replays = newest(older.replays, newer.replays, limits.frameReplaysMax);
  const isReset = older.isReset || newer.isReset || subscriptions.left > 0 || replays.left > 0;
  return { subscriptions: subscriptions.kept, replays: replays.kept, isReset };
}

export function addCounts(a: Counts, b: Counts): Counts {
  return {
    published: a.published + b.published,
    delivered: a.delivered + b.delivered,
    dead: a.dead + b.dead,
    cancelled: a.cancelled + b.cancelled,
    retried: a.retried + b.retried,
  };
}

/**
 * Keeps each item once, at the place of its newest change, and at most `most` of them; `left`
 * counts the rest.
 */
export function newest<T>(
  older: readonly T[],
  newer: readonly T[],
  most: number,
  keyOf: (item: T) => unknown = (item) => item,
): { kept: T[]; left: number } {
  const changedAgain = new Set(newer.map(keyOf));
  const all = [...older.filter((item) => !changedAgain.has(keyOf(item))), ...newer];
  const left = Math.max(all.length - most, 0);
  return { kept: all.slice(left), left };
}

export function writeDigest({ counts, ...digest }: Digest): string {
  const { published, delivered, dead, cancelled, retried } = counts;
  const short = [published, delivered, dead, cancelled, retried];
  return JSON.stringify({ ...digest, counts: short });
}

/** A digest from another version of the program that this one cannot read becomes a reset. */
export function readDigest(text: string): Digest {
  const value: unknown = JSON.parse(text);
  const given = new Map(Object.entries(typeof value === 'object' && value !== null ? value : {}));
  const counts = numbersIn(given.get('counts'));
  const [published, delivered, dead, cancelled, retried] = counts ?? [];
  const deliveries = textsIn(given.get('deliveries'));
  const subscriptions = textsIn(given.get('subscriptions'));
  const replays = textsIn(given.get('replays'));
  const [more] = numbersIn([given.get('more')]) ?? [];
  if (
    published === undefined ||
    delivered === undefined ||
    dead === undefined ||
    cancelled === undefined ||
    retried === undefined ||
    deliveries === undefined ||
    subscriptions === undefined ||
    replays === undefined ||
    more === undefined
  ) {
    return { ...emptyDigest, isReset: true };
  }
  return {
    counts: { published, delivered, dead, cancelled, retried },
    deliveries,
    more,
    subscriptions,
    replays,
    isReset: given.get('isReset') !== false,
  };
}

function textsIn(value: unknown): string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const texts = value.filter((item) => typeof item === 'string');
  return texts.length === value.length ? texts : undefined;
}

function numbersIn(value: unknown): number[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const numbers = value.filter((item) => typeof item === 'number');
  return numbers.length === value.length ? numbers : undefined;
}
