// Which callbacks match an event: the patterns that match its name, and the filters of those
// callbacks, read from their own column, without the other settings of a subscription, which may be
// large. Also which of them its payload does not fit.
import { AssertionError } from 'node:assert';
import type { SkippedCallback } from '../../core/domain/event.ts';
import { type Rules, payloadMatcher, rulesOf } from '../../core/domain/filter.ts';
import type { Lane } from '../../core/domain/lane.ts';
import { decodeFilter } from '../../core/domain/controls.ts';
import { lacksSubject, type Subscription } from '../../core/domain/subscription.ts';
import { limits } from '../../core/limits/limits.ts';
import { type Row, integer, maybe, text } from '../sql/row.ts';
import type { Owner } from './pattern-keys.ts';

/**
 * A callback that matches an event, and the lane of its deliveries. The filters that apply are
 * those in force when the deliveries are created.
 */
export interface Listener {
  callback: number;
  lane: Lane;
  /** The filter that the payload must match; undefined: any payload. */
  rules: Rules | undefined;
}

/**
 * Whether an event is about another subject than the subscription that it is addressed to, or of another customer. Only
 * the API that answered its request knows the id of a subscription whose subject is still to come, and it knows the
 * subject, too.
 */
export function isOfOther(
  { subject, customer }: Partial<Owner>,
  addressed: Pick<Subscription, 'id' | 'subject' | 'customer'>,
): boolean {
  if (customer !== undefined && customer !== addressed.customer) return true;
  return subject !== undefined && !lacksSubject(addressed) && subject !== addressed.subject;
}

/** The callbacks whose filter matches the payload, which is parsed only if one of them has a filter. */
export function filterListeners<L extends Pick<Listener, 'rules'>>(
  listeners: readonly L[],
  payload: Uint8Array,
): readonly L[] {
  if (listeners.every(({ rules }) => rules === undefined)) return listeners;
  const matches = payloadMatcher(payload);
  return listeners.filter(({ rules }) => rules === undefined || matches(rules));
}

// Skipped callbacks, by the definitions that the callbacks of subscriptions were made from. Few events have any, so
// definitions are read for those events only.

/** The listeners that are not skipped. `definitions`: rows with `callback`, `operation` and `definition`. */
export function withoutSkipped<L extends Pick<Listener, 'callback'>>(
  listeners: readonly L[],
  skipped: readonly SkippedCallback[],
  definitions: readonly Row[],
): readonly L[] {
  const keys = new Set(skipped.map(definitionKey));
  const isSkipped = (row: Row): boolean => {
    return keys.has(
      definitionKey({ operation: text(row, 'operation'), definition: text(row, 'definition') }),
    );
  };
  const left = new Set(definitions.filter(isSkipped).map((row) => integer(row, 'callback')));
  return listeners.filter(({ callback }) => !left.has(callback));
}

function definitionKey({
  operation,
  definition,
}: Pick<SkippedCallback, 'operation' | 'definition'>): string {
  return JSON.stringify([operation, definition]);
}

/** For the column `skipped`, which is null for nearly all events. */
export function printSkipped(skipped: readonly SkippedCallback[] | undefined): string | null {
  return skipped === undefined ? null : JSON.stringify(skippedMembers(skipped));
}

export function skippedIn(row: Row): readonly SkippedCallback[] | undefined {
  const printed = maybe(text, row, 'skipped');
  return printed === undefined ? undefined : toSkipped(JSON.parse(printed));
}

export function skippedMembers(skipped: readonly SkippedCallback[]): string[][] {
  return skipped.map(({ operation, definition, reason }) => [operation, definition, reason]);
}

export function toSkipped(printed: unknown): readonly SkippedCallback[] {
  if (!Array.isArray(printed)) throw noSkipped();
  return printed.map((members: unknown) => {
    if (!Array.isArray(members)) throw noSkipped();
    const [operation, definition, reason]: readonly unknown[] = members;
    if (typeof operation !== 'string' || typeof definition !== 'string') throw noSkipped();
    if (typeof reason !== 'string') throw noSkipped();
    return { operation, definition, reason };
  });
}

function noSkipped(): AssertionError {
  return new AssertionError({ message: 'Cannot read skipped callbacks: expected lists of texts' });
}

/** A matching callback: it is known whether it has a filter, but the filter is not read yet. */
export interface FoundListener extends Omit<Listener, 'rules'> {
  /** The subscription, if it has a filter. */
  filteredBy: number | undefined;
}

export function toFoundListener(row: Row, lane: Lane): FoundListener {
  const isFiltered = integer(row, 'filtered') === 1;
  const filteredBy = isFiltered ? integer(row, 'subscription') : undefined;
  return { callback: integer(row, 'callback'), lane, filteredBy };
}

/**
 * By the store's number of the subscription. Undefined: it was read, and no longer has a filter.
 */
export type KnownRules = Map<number, Rules | undefined>;

/** Adds rows with `no` and `filter`. */
export function learnRules(known: KnownRules, rows: readonly Row[]): void {
  for (const row of rows) known.set(integer(row, 'no'), rulesIn(row));
}

export function toListener(
  { callback, lane, filteredBy }: FoundListener,
  known: KnownRules,
): Listener {
  return { callback, lane, rules: filteredBy === undefined ? undefined : known.get(filteredBy) };
}

/** The rules in the column `filter`; undefined: the row has none. */
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
 * An unreadable filter matches everything: the delivery is created, and stays pending until the row
 * is repaired, because its sender cannot read the filter either. Anything else would silently drop
 * events, or refuse them for all other subscribers.
 */
function readRules(filter: string): Rules | undefined {
  try {
    return rulesOf(decodeFilter(filter));
  } catch {
    return undefined;
  }
}

/**
 * A cache keyed by the whole text, so that it never needs invalidation, whether a transaction fails
 * or another node writes. The oldest entry is dropped first: an app with a thousand filters of its
 * own makes others parse again one by one, not all at once.
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
