// The codes for how deliveries end, in the column `delivery_done.state`.
import type { DeliveryState } from '../../core/domain/delivery.ts';

export type EndState = Exclude<DeliveryState, 'due' | 'running'>;

export const endStates = { delivered: 1, dead: 2, cancelled: 3 } as const satisfies Record<
  EndState,
  number
>;

export function toEndState(written: number): EndState {
  return endStateNames.find((name) => endStates[name] === written) ?? 'cancelled';
}

const endStateNames = ['delivered', 'dead', 'cancelled'] as const;
