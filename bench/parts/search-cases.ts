// Typical searches over the history of filled-rows.ts. For benchmarks only.
import type { DeliveryFilter } from '../../src/store/port/delivery-verbs.ts';
import { idOf } from './fill-deliveries.ts';
import { rareCallback, rareName } from './filled-rows.ts';

export interface SearchCase {
  appNo: number;
  filter: DeliveryFilter;
}

const hourMs = 60 * 60_000;

export function searchCases(untilMs: number): SearchCase[] {
  const [busy, rare] = [idOf(1), idOf(rareCallback)];
  const hour = { fromMs: untilMs - 72 * hourMs, untilMs: untilMs - 71 * hourMs };
  const day = { fromMs: untilMs - 96 * hourMs, untilMs: untilMs - 72 * hourMs };
  const ofBusy: Partial<DeliveryFilter>[] = [
    {},
    hour,
    { state: 'delivered' },
    { state: 'dead' },
    { state: 'cancelled' },
    { state: 'due' },
    { state: 'retrying' },
    { state: 'pending', ...hour },
    { status: '4xx' },
    { status: '503' },
    { status: '299' },
    { status: '204', ...day },
    { error: 'tls' },
    { error: 'exhausted', ...hour },
    { name: 'order.*' },
    { name: rareName },
    { name: rareName, state: 'dead' },
    { name: 'audit.*', ...day },
    { name: 'order.*', status: '299' },
    { name: 'order.*', state: 'dead', ...day },
    { subscription: busy },
    { subscription: busy, state: 'dead' },
    { subscription: busy, status: '299' },
    { subscription: busy, name: rareName },
    { subscription: busy, ...hour },
    { subscription: rare },
    { subscription: rare, state: 'dead' },
    { subscription: rare, name: 'order.*', ...day },
    { error: 'tls', subscription: rare },
  ];
  const ofSilent: Partial<DeliveryFilter>[] = [{}, { state: 'dead' }, { state: 'due' }, hour];
  return [
    ...ofBusy.map((filter) => [1, filter] as const),
    ...ofSilent.map((f) => [3, f] as const),
  ].map(([appNo, filter]) => ({ appNo, filter: { ...none, ...filter } }));
}

const none: DeliveryFilter = {
  state: undefined,
  name: undefined,
  event: undefined,
  subscription: undefined,
};
