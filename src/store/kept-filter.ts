// The filters of subscriptions, as a publish asks them: read by their own column, and never with what
// else a subscription keeps, which is nobody's business then and may be large.
import { decodeFilter } from '../core/controls.ts';
import type { Rules } from '../core/filter.ts';
import { rulesOf } from '../core/filter.ts';
import type { Lane } from '../core/lane.ts';
import { limits } from '../core/limits.ts';
import type { Listener } from './listener.ts';
import type { Row } from './row.ts';
import { integer, maybe, text } from './row.ts';

/** A listener as it was found: it is known whether it filters, and not yet what. */
export interface Found extends Omit<Listener, 'rules'> {
  /** The subscription, if it has a filter. */
  filteredBy: number | undefined;
}

export function toFound(row: Row, lane: Lane): Found {
  const isFiltered = integer(row, 'filtered') === 1;
  const filteredBy = isFiltered ? integer(row, 'subscription') : undefined;
  return { callback: integer(row, 'callback'), lane, filteredBy };
}

/** By the store's number of the subscription. One that is asked for and has no filter any more has none. */
export type KnownRules = Map<number, Rules | undefined>;

/** Of rows with `no` and `filter`. */
export function learnRules(known: KnownRules, rows: readonly Row[]): void {
  for (const row of rows) known.set(integer(row, 'no'), rulesIn(row));
}

export function toListener({ callback, lane, filteredBy }: Found, known: KnownRules): Listener {
  return { callback, lane, rules: filteredBy === undefined ? undefined : known.get(filteredBy) };
}

/** Of a row with `filter`; undefined: it has none. */
export function rulesIn(row: Row): Rules | undefined {
  const filter = maybe(text, row, 'filter');
  if (filter === undefined) return undefined;
  const known = remembered.get(filter);
  if (known !== undefined) return known;
  const rules = readRules(filter);
  if (rules !== undefined) remember(filter, rules);
  return rules;
}

/**
 * A filter that cannot be read lets everything pass: the delivery is made and waits until somebody mends
 * the row, because its sender cannot read it either. Anything else would drop events in silence, or
 * refuse them to all who listen besides.
 */
function readRules(filter: string): Rules | undefined {
  try {
    return rulesOf(decodeFilter(filter));
  } catch {
    return undefined;
  }
}

/**
 * By the whole text, which says itself when it is another one: there is nothing to take back when a
 * transaction fails or another node writes. The oldest goes first: whoever brings a thousand of his own
 * makes others parse again one by one, not all at once.
 */
const remembered = new Map<string, Rules>();
let rememberedChars = 0;

function remember(filter: string, rules: Rules): void {
  remembered.set(filter, rules);
  rememberedChars += filter.length;
  for (const oldest of remembered.keys()) {
    if (rememberedChars <= limits.filtersRememberedCharsMax) return;
    remembered.delete(oldest);
    rememberedChars -= oldest.length;
  }
}
