// The conditions of a search as plain parameters. An absent condition has a value that every row
// matches, so one statement serves all combinations.
import { firstIdAt } from '../../../core/base/id.ts';
import { isWildcard, nameOfLiteral } from '../../../core/domain/pattern.ts';
import { limits } from '../../../core/limits/limits.ts';
import type { DeliveryFilter, EventFilter } from '../../port/delivery-verbs.ts';
import type { Position } from '../../sql/cursor.ts';
import { endStates } from '../../sql/end-states.ts';
import type { Value } from '../../sql/statement.ts';
import type { Bounds, Range } from './slices-in-time.ts';

/** Extend the codes of `delivery_done`; used in filters only. */
export const liveStates = { due: 4, running: 5 } as const;

export interface SearchFilter {
  states: Bounds<number>;
  attemptsMin: number;
  /** Names of the event. */
  names: Bounds<string>;
  codes: Bounds<number>;
  error: string;
  /** The number in the store, or 0. */
  subscription: number;
  /** Of the subscription, or empty. */
  customer: string;
}

/** No name sorts after it: both databases compare the bytes of UTF-8. */
const lastName = '\u{10FFFF}'.repeat(limits.eventNameCharsMax);

const any = { names: ['', lastName], codes: [0, 999], states: [1, 5] } as const;

export function searchFilterOf(filter: DeliveryFilter, subscription: number): SearchFilter {
  const { status, error = '', customer = '' } = filter;
  return {
    states: statesOf(filter.state),
    attemptsMin: filter.state === 'retrying' ? 1 : 0,
    names: namesOf(filter),
    codes: status === undefined ? any.codes : codesOf(status),
    error,
    subscription,
    customer,
  };
}

function statesOf(state: DeliveryFilter['state']): Bounds<number> {
  switch (state) {
    case undefined:
      return any.states;
    case 'pending':
    case 'retrying':
      return [liveStates.due, liveStates.running];
    case 'ended':
      return [endStates.delivered, endStates.cancelled];
    case 'due':
    case 'running':
      return [liveStates[state], liveStates[state]];
    case 'delivered':
    case 'dead':
    case 'cancelled':
      return [endStates[state], endStates[state]];
  }
}

/** Names that begin with `order.` lie between `order.` and `order.` with the last name behind it. */
export function namesOf({ name }: EventFilter): Bounds<string> {
  if (name === undefined || name === '*') return any.names;
  if (!isWildcard(name)) {
    const only = nameOfLiteral(name);
    return [only, only];
  }
  const prefix = name.slice(0, -1);
  return [prefix, prefix + lastName];
}

/** `4xx` means 400 to 499, `404` only itself. */
function codesOf(status: string): Bounds<number> {
  const isClass = status.endsWith('xx');
  const least = isClass ? Number(status.charAt(0)) * 100 : Number(status);
  return [least, isClass ? least + 99 : least];
}

export function isAnyName([least]: Bounds<string>): boolean {
  return least === '';
}

/**
 * Begins where the previous page ended, or at `untilMs` if that is lower. Ends at an id, never at
 * nothing, because the end of a walk becomes a cursor.
 */
export function rangeOf(after: Position, { fromMs, untilMs }: EventFilter): Range {
  const until = untilMs === undefined ? '~' : firstIdAt(untilMs);
  const below = until < after.event ? { event: until, n: 0 } : after;
  return { below, from: firstIdAt(fromMs ?? 0) };
}

/** In the order in which the conditions of `boundedSearch` use them, from ?9 on. */
export function valuesOf(sought: SearchFilter): Value[] {
  const { subscription, names, codes, error, states, customer } = sought;
  return [subscription, ...names, ...codes, error, ...states, customer];
}
