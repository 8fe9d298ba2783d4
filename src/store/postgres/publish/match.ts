// Finds the listeners of many events at once, inside the publish transaction: subscriptions
// committed before it began are seen, and ended ones are not found. If the listeners have been the
// same for some time, the publish does not wait for the answer: its statements are sent at once,
// and the server writes only if nothing has changed.
import type { SkippedCallback } from '../../../core/domain/event.ts';
import type { Lane } from '../../../core/domain/lane.ts';
import { limits } from '../../../core/limits/limits.ts';
import {
  type Listener,
  toFoundListener,
  learnRules,
  toListener,
  withoutSkipped,
  type FoundListener,
  type KnownRules,
} from '../../rules/listeners.ts';
import { matchingKeys, passedByKeys, type Matching } from '../../rules/pattern-keys.ts';
import { readPatterns } from '../../sql/pattern-list.ts';
import { integer, text, type Row } from '../../sql/row.ts';
import { laneColumns, toLane } from '../../verbs/shared/lanes.ts';
import { WroteNothing } from '../connection/failure.ts';
import type { Tx } from '../connection/tx.ts';

/**
 * Fingerprint of a row called `lane`: covers every column that the rules read, as in `laneColumns`.
 */
const lanePrint = `hash_record_extended(row(lane.state, lane.ordered, lane.gate_ms, lane.ready_ms,
  lane.interval_ms, lane.tat_ms, lane.concurrency, lane.failures, lane.failing_ms, lane.version), 0)`;

export const matchSql = {
  versions: 'select no, version from app where no = any($1::bigint[])',
  listeners: `
    select x.i, x.k, p.callback, p.filtered, lane.subscription, ${lanePrint}::text as print,
      ${laneColumns}
    from unnest($1::int[], $2::int[], $3::bigint[], $4::text[], $5::text[], $6::int[])
      as x (i, k, app, contract, pattern, most)
    cross join lateral (
      select callback, lane, filtered from pattern
      where pattern.app = x.app and pattern.contract = x.contract and pattern.pattern = x.pattern
        and died is null
      order by callback limit x.most) p
    join lane on lane.no = p.lane`,
  // Sets `ringback.known` if the apps or lanes have changed. A quarter of the cost of reading them
  // again.
  changed: `
    select set_config('ringback.known', 'no', true)
    where cardinality($1::bigint[]) > (
        select count(*) from unnest($1::bigint[], $2::bigint[]) as x (no, version)
        join app on app.no = any (array[x.no]) and app.version = x.version)
      or cardinality($3::bigint[]) > (
        select count(*) from unnest($3::bigint[], $4::bigint[]) as x (no, print)
        join lane on lane.no = any (array[x.no]) and ${lanePrint} = x.print)`,
  // An inactive callback has no lane.
  ofSubscriptions: `
    select callback.subscription, callback.position, callback.no as callback,
      callback.event as patterns, ${laneColumns}
    from callback join lane on lane.no = callback.lane
    where callback.subscription = any($1::bigint[])`,
} as const;

/**
 * Condition of statements that are sent before the listeners are confirmed: they write unless those
 * have changed.
 */
export const areListenersUnchanged =
  "current_setting('ringback.known', true) is distinct from 'no'";

export interface PublishedName extends Matching {
  appNo: number;
  contract: string;
}

/**
 * The lanes that a batch has met, each once, so that later events see what earlier ones changed.
 */
export type KnownLanes = Map<number, Lane>;

export interface MatchedListeners {
  /** The listeners of each name, at most `targetsAtOnceMax` + 1. */
  found: FoundListener[][];
  /** Indexes of the names that lack a subject, because a subscription that they would reach has one. */
  missing: ReadonlySet<number>;
  /**
   * Rejects with WroteNothing if the listeners have changed; then no statement with the condition
   * `areListenersUnchanged` has written.
   */
  sure: Promise<unknown>;
}

/** `cache`: only if the transaction does nothing but publish. */
export async function matchAllListeners(
  tx: Tx,
  published: readonly PublishedName[],
  { lanes, cache }: { lanes: KnownLanes; cache: ListenerCache | undefined },
): Promise<MatchedListeners> {
  if (published.length === 0) return { found: [], missing: new Set(), sure: Promise.resolve() };
  const names = published.map(nameKey);
  const stableListeners = cache?.steady(names);
  if (stableListeners === undefined) {
    const all = await findAllListeners(tx, published, { lanes, cache });
    return { ...all, sure: Promise.resolve() };
  }
  const sure = isChanged(tx, stableListeners).then((isOther) => {
    if (!isOther) return;
    cache?.forget(names);
    throw new WroteNothing('The subscriptions that match these events have changed');
  });
  sure.catch(() => undefined); // It is awaited with the rest.
  const found = stableListeners.matched.map(({ listeners }) =>
    listeners.map((one) => ({
      ...one,
      lane: laneOnce(one.lane.no, lanes, () => ({ ...one.lane })),
    })),
  );
  return { found, missing: new Set(), sure };
}

async function isChanged(tx: Tx, { versions, prints }: StableListeners): Promise<boolean> {
  const changed = await tx.query(matchSql.changed, [
    [...versions.keys()],
    [...versions.values()],
    [...prints.keys()],
    [...prints.values()],
  ]);
  return changed.length > 0;
}

async function findAllListeners(
  tx: Tx,
  published: readonly PublishedName[],
  { lanes, cache }: { lanes: KnownLanes; cache: ListenerCache | undefined },
): Promise<Pick<MatchedListeners, 'found' | 'missing'>> {
  const patterns = published.flatMap((one, i) => {
    const { appNo, contract } = one;
    const all = matchingKeys(one).map((pattern, k) => ({ i, k, appNo, contract, pattern }));
    const passedBy = passedByKeys(one).map((pattern) => {
      return { i, k: isPassedBy, appNo, contract, pattern };
    });
    return [...all, ...passedBy];
  });
  const apps = new Set(published.map(({ appNo }) => appNo));
  const [versions, rows] = await Promise.all([
    cache && tx.query(matchSql.versions, [[...apps]]), // First: a change in between raises the version.
    tx.query(matchSql.listeners, [
      patterns.map(({ i }) => i),
      patterns.map(({ k }) => k),
      patterns.map(({ appNo }) => appNo),
      patterns.map(({ contract }) => contract),
      patterns.map(({ pattern }) => pattern),
      patterns.map(({ k }) => (k === isPassedBy ? 1 : limits.targetsAtOnceMax + 1)),
    ]),
  ]);
  const found = published.map((): Map<number, FingerprintedListener> => new Map());
  const missing = new Set<number>();
  for (const row of rows.toSorted(bySpecificThenOldest)) {
    if (integer(row, 'k') === isPassedBy) {
      missing.add(integer(row, 'i'));
      continue;
    }
    const listeners = found[integer(row, 'i')];
    const lane = laneOnce(integer(row, 'lane'), lanes, () => toLane(row));
    const listener = { ...toFoundListener(row, lane), print: text(row, 'print') };
    if (listeners === undefined || listeners.size > limits.targetsAtOnceMax) continue;
    if (!listeners.has(listener.callback)) listeners.set(listener.callback, listener);
  }
  const versionOf = new Map(
    versions?.map((row) => [integer(row, 'no'), integer(row, 'version')] as const),
  );
  for (const [i, one] of published.entries()) {
    const version = versionOf.get(one.appNo);
    // Copied as found: changes that this batch makes to a lane must not be cached.
    const listeners = [...(found[i]?.values() ?? [])].map((of) => ({
      ...of,
      lane: { ...of.lane },
    }));
    if (version === undefined || !listeners.every(isPlain)) continue;
    if (missing.has(i) || one.subject !== undefined || one.customer !== undefined) continue;
    cache?.learn(nameKey(one), { appNo: one.appNo, version, listeners });
  }
  return { found: found.map((listeners) => [...listeners.values()]), missing };
}

/** In the place of the index of a key: a key that the event passes by. */
const isPassedBy = -1;

/** Listeners that need no further query, for whose answer the publish would have to wait anyway. */
function isPlain({ filteredBy, lane }: FoundListener): boolean {
  return filteredBy === undefined && !lane.ordered;
}

export function nameKey(published: PublishedName): string {
  const { appNo, contract, name, subject, customer, audience } = published;
  return JSON.stringify([appNo, contract, name, audience, subject, customer]);
}

export interface MatchedListener extends Listener {
  patterns: readonly string[];
}

/** All callbacks of subscriptions by the number of the subscription, in order. */
export async function matchSubscriptions(
  tx: Tx,
  subscriptions: readonly number[],
  lanes: KnownLanes,
): Promise<Map<number, MatchedListener[]>> {
  const found = new Map(subscriptions.map((no): [number, MatchedListener[]] => [no, []]));
  if (subscriptions.length === 0) return found;
  const rows = await tx.query(matchSql.ofSubscriptions, [subscriptions]);
  for (const row of rows.toSorted(byPosition)) {
    const callback = integer(row, 'callback');
    const patterns = readPatterns(text(row, 'patterns'));
    const lane = laneOnce(integer(row, 'lane'), lanes, () => toLane(row));
    const listener = { callback, lane, rules: undefined, patterns };
    found.get(integer(row, 'subscription'))?.push(listener);
  }
  return found;
}

function byPosition(a: Row, b: Row): number {
  return integer(a, 'position') - integer(b, 'position');
}

function bySpecificThenOldest(a: Row, b: Row): number {
  return integer(a, 'k') - integer(b, 'k') || integer(a, 'callback') - integer(b, 'callback');
}

function laneOnce(no: number, lanes: KnownLanes, make: () => Lane): Lane {
  const lane = lanes.get(no) ?? make();
  lanes.set(no, lane);
  return lane;
}

// The filters of subscriptions, for many listeners in one query, each once: a batch of publishes
// may meet a listener for several of its names. Without filters there is no query.

export const filtersSql = {
  filters: 'select no, filter from subscription where no = any($1::bigint[])',
} as const;

/** Returns one list per input list, in the same order. */
export async function withRules(
  tx: Tx,
  found: readonly (readonly FoundListener[])[],
): Promise<Listener[][]> {
  const filterNos = new Set(found.flat().flatMap(({ filteredBy }) => filteredBy ?? []));
  const known: KnownRules = new Map();
  if (filterNos.size > 0) learnRules(known, await tx.query(filtersSql.filters, [[...filterNos]]));
  return found.map((list) => list.map((one) => toListener(one, known)));
}

export const definitionsSql = {
  definitions: `
    select callback.no as callback, operation, definition
    from callback join subscription on subscription.no = callback.subscription
    where callback.no = any($1::bigint[])`,
} as const;

/** `listeners`: undefined if a fan-out makes the deliveries. */
export interface Skipping {
  listeners: readonly Listener[] | undefined;
  skipped: readonly SkippedCallback[] | undefined;
}

/** Removes the listeners that these events skip. Nearly all events skip none; then there is no query. */
export async function skipListeners(tx: Tx, events: readonly Skipping[]): Promise<void> {
  const skipping = events.filter(({ skipped }) => skipped !== undefined);
  if (skipping.length === 0) return;
  const callbacks = skipping.flatMap(({ listeners = [] }) => listeners.map((one) => one.callback));
  const definitions = await tx.query(definitionsSql.definitions, [[...new Set(callbacks)]]);
  for (const event of skipping) {
    const { listeners, skipped = [] } = event;
    event.listeners = listeners && withoutSkipped(listeners, skipped, definitions);
  }
}

// Caches which callbacks match which event name. The cache is never trusted: the database is sent
// its fingerprints and says whether they still hold. If they have held several times in a row, a
// publish does not wait for that answer. In memory only, and bounded.

/** The listeners of a name, with fingerprints by which a change is detected. */
export interface NameListeners {
  appNo: number;
  /**
   * The app's version, which every change of what its events match raises; read before the rest.
   */
  version: number;
  listeners: readonly FingerprintedListener[];
}

/** A listener with the fingerprint of its lane. */
export interface FingerprintedListener extends FoundListener {
  print: string;
}

/** The cached listeners of several names. */
export interface StableListeners {
  matched: readonly NameListeners[];
  /** By app, and by lane. */
  versions: ReadonlyMap<number, number>;
  prints: ReadonlyMap<number, string>;
}

export interface ListenerCache {
  /** The listeners of these names, if they have been the same for some time for all of them. */
  steady(names: readonly string[]): StableListeners | undefined;
  learn(name: string, matched: NameListeners): void;
  /** Call when the names are known to have changed. */
  forget(names: readonly string[]): void;
}

interface Remembered {
  matched: NameListeners;
  /** How many times in a row the answer was the same. */
  times: number;
}

export function createListenerCache(): ListenerCache {
  const remembered = new Map<string, Remembered>();
  return {
    steady: (names) => {
      const matched: NameListeners[] = [];
      for (const name of names) {
        const one = remembered.get(name);
        if (one === undefined || one.times < limits.listenerCacheSteadyTimes) return undefined;
        matched.push(one.matched);
      }
      return together(matched);
    },
    learn: (name, matched) => {
      const before = remembered.get(name);
      const times = before !== undefined && isSame(before.matched, matched) ? before.times + 1 : 0;
      remembered.delete(name);
      if (matched.listeners.length > limits.listenerCacheListenersMax) return;
      remembered.set(name, { matched, times });
      if (remembered.size <= limits.listenerCacheNamesMax) return;
      const [oldest = name] = remembered.keys();
      remembered.delete(oldest);
    },
    forget: (names) => {
      for (const name of names) remembered.delete(name);
    },
  };
}

/** Undefined if the answers were learned at different times and contradict each other. */
function together(matched: readonly NameListeners[]): StableListeners | undefined {
  const versions = new Map<number, number>();
  const prints = new Map<number, string>();
  for (const { appNo, version, listeners } of matched) {
    if ((versions.get(appNo) ?? version) !== version) return undefined;
    versions.set(appNo, version);
    for (const { lane, print } of listeners) {
      if ((prints.get(lane.no) ?? print) !== print) return undefined;
      prints.set(lane.no, print);
    }
  }
  return { matched, versions, prints };
}

function isSame(a: NameListeners, b: NameListeners): boolean {
  if (a.version !== b.version || a.listeners.length !== b.listeners.length) return false;
  return a.listeners.every(({ lane, print }, i) => {
    const other = b.listeners[i];
    return lane.no === other?.lane.no && print === other.print;
  });
}
