// What a search asks for, as plain values that a statement takes: a filter that asks for nothing has a
// value that all rows fit, so that there is one statement for all combinations.
import { firstIdAt } from '../../core/id.ts';
import type { Position } from '../cursor.ts';
import type { DeliveryFilter, EventFilter } from '../delivery-verbs.ts';
import type { Value } from '../statement.ts';
import type { Bounds } from './bounds.ts';
import { endStates } from './end-states.ts';
import type { Range } from './spans.ts';

/** Written beside those of `delivery_done`, for filters only. */
export const liveStates = { due: 4, running: 5 } as const;

export interface Sought {
  states: Bounds<number>;
  attemptsMin: number;
  /** Of the event. */
  names: Bounds<string>;
  codes: Bounds<number>;
  error: string;
  /** The store's number, or 0. */
  subscription: number;
}

const any = { names: ['', '~'], codes: [0, 999], states: [1, 5] } as const;

export function soughtBy(filter: DeliveryFilter, subscription: number): Sought {
  const { status, error = '' } = filter;
  return {
    states: statesOf(filter.state),
    attemptsMin: filter.state === 'retrying' ? 1 : 0,
    names: namesOf(filter),
    codes: status === undefined ? any.codes : codesOf(status),
    error,
    subscription,
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

/** Names that begin with `order.` lie between `order.` and `order.~`: no name holds a `~`. */
export function namesOf({ name }: EventFilter): Bounds<string> {
  if (name === undefined || name === '*') return any.names;
  if (!name.endsWith('.*')) return [name, name];
  const prefix = name.slice(0, -1);
  return [prefix, `${prefix}~`];
}

/** `4xx` is 400 to 499, `404` is itself. */
function codesOf(status: string): Bounds<number> {
  const isClass = status.endsWith('xx');
  const least = isClass ? Number(status.charAt(0)) * 100 : Number(status);
  return [least, isClass ? least + 99 : least];
}

export function isAnyName([least]: Bounds<string>): boolean {
  return least === '';
}

/**
 * Where the page before ended, but not above the time that is asked for; and down to an id, not to nothing:
 * where a walk ends, a cursor may stand.
 */
export function rangeOf(after: Position, { fromMs, untilMs }: EventFilter): Range {
  const until = untilMs === undefined ? '~' : firstIdAt(untilMs);
  const below = until < after.event ? { event: until, n: 0 } : after;
  return { below, from: firstIdAt(fromMs ?? 0) };
}

/** In the order in which `fits` of `pieceSql` names them, from ?9 on. */
export function valuesOf(sought: Sought): Value[] {
  const { subscription, names, codes, error, states } = sought;
  return [subscription, ...names, ...codes, error, ...states];
}
