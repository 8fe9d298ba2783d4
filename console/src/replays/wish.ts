// What a new replay is asked for: the fields of the form, which stand in the address, and the request that
// they make. Pure.
import type { ReplayFilter } from '../shapes.ts';

export const wishNames = [
  'state',
  'event',
  'subscriberId',
  'status',
  'error',
  'from',
  'until',
  'rate',
] as const;

type WishName = (typeof wishNames)[number];

export type Wish = Readonly<Partial<Record<WishName, string>>>;

export const rateDefault = 50;
export const rateMax = 1_000;

export function wishOf(query: URLSearchParams): Wish {
  const given = wishNames.flatMap((name): [WishName, string][] => {
    const value = query.get(name);
    return value === null || value === '' ? [] : [[name, value]];
  });
  return Object.fromEntries(given);
}

/** Closes the form: none of its fields stays in the address. */
export const noWish: Readonly<Record<WishName | 'new', undefined>> = {
  new: undefined,
  state: undefined,
  event: undefined,
  subscriberId: undefined,
  status: undefined,
  error: undefined,
  from: undefined,
  until: undefined,
  rate: undefined,
};

export type ReplayRequest = {
  readonly filter: Readonly<Record<string, string>>;
  readonly ratePerSecond: number;
};

export function requestOf({ rate, ...filter }: Wish): ReplayRequest {
  return { filter: { state: 'dead', ...filter }, ratePerSecond: Number(rate ?? rateDefault) };
}

/** What is wrong with the rate; undefined if nothing is. */
export function rateFault(rate: string | undefined): string | undefined {
  const value = Number(rate ?? rateDefault);
  const isFine = Number.isInteger(value) && value >= 1 && value <= rateMax;
  return isFine ? undefined : 'Expected a whole number from 1 to 1000.';
}

/** The same again: the parameters that open the form with this filter. */
export function wishFor(filter: ReplayFilter, ratePerSecond: number): Record<string, string> {
  const { until: _until, ...rest } = filter;
  return { new: '1', ...rest, rate: String(ratePerSecond) };
}

const stateWords: Readonly<Record<string, string>> = {
  dead: 'Dead deliveries',
  delivered: 'What was delivered',
  cancelled: 'Cancelled deliveries',
  ended: 'All that had ended',
};

/** Which deliveries, without what else they must fit. */
export function stateSentence(state: string | undefined): string {
  return stateWords[state ?? 'dead'] ?? `Deliveries that are ${state}`;
}
