// The values of the replay form, which are query parameters, and the request they make. Pure.
import type { Replay } from '../../../src/client/contract/delivery.ts';

export const fieldNames = [
  'state',
  'event',
  'subject',
  'customer',
  'subscriberId',
  'status',
  'error',
  'from',
  'until',
  'rate',
] as const;

type FieldName = (typeof fieldNames)[number];

export type FormValues = Readonly<Partial<Record<FieldName, string>>>;

export const rateDefault = 50;
export const rateMax = 1_000;

export function valuesIn(query: URLSearchParams): FormValues {
  const given = fieldNames.flatMap((name): [FieldName, string][] => {
    const value = query.get(name);
    return value === null || value === '' ? [] : [[name, value]];
  });
  return Object.fromEntries(given);
}

/** Closes the form and removes its fields from the address. */
export const noValues: Readonly<Record<FieldName | 'new', undefined>> = {
  new: undefined,
  state: undefined,
  event: undefined,
  subject: undefined,
  customer: undefined,
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

export function requestOf({ rate, ...filter }: FormValues): ReplayRequest {
  return { filter: { state: 'dead', ...filter }, ratePerSecond: Number(rate ?? rateDefault) };
}

/** The error of the rate; undefined if it is valid. */
export function rateError(rate: string | undefined): string | undefined {
  const value = Number(rate ?? rateDefault);
  const isValid = Number.isInteger(value) && value >= 1 && value <= rateMax;
  return isValid ? undefined : 'Expected a whole number from 1 to 1000.';
}

/** The parameters that open the form with this filter, until now. */
export function paramsFor(filter: Replay['filter'], ratePerSecond: number): Record<string, string> {
  const { until: _until, ...rest } = filter;
  return { new: '1', ...rest, rate: String(ratePerSecond) };
}

const stateLabels: Readonly<Record<string, string>> = {
  dead: 'Dead deliveries',
  delivered: 'Successful deliveries',
  cancelled: 'Cancelled deliveries',
  ended: 'Finished deliveries',
};

/** The deliveries by state, without the other conditions. */
export function stateLabel(state: string | undefined): string {
  return stateLabels[state ?? 'dead'] ?? `Deliveries in state ${state}`;
}
