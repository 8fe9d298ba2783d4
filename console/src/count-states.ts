// Counts deliveries by state. Pure.
import { shownState, type StateName } from './components/badge.tsx';
import type { Delivery } from '../../src/client/contract/delivery.ts';

const order: readonly StateName[] = [
  'delivered',
  'in-flight',
  'due',
  'retrying',
  'dead',
  'cancelled',
];

export function countStates(
  items: readonly Delivery[],
): readonly { readonly state: StateName; readonly size: number }[] {
  const states = items.map(shownState);
  return order
    .map((state) => ({ state, size: states.filter((one) => one === state).length }))
    .filter(({ size }) => size > 0);
}
