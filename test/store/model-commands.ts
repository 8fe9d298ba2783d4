// The commands of the model.
import type { Controls } from '../../src/core/domain/controls.ts';
import { noControls } from '../../src/core/domain/controls.ts';
import type { Outcome } from './settlement.ts';

export type Command =
  | ({ kind: 'subscribe'; pattern: string } & Chosen)
  | ({ kind: 'choose'; who: number } & Chosen)
  | { kind: 'publish'; name: string; events: number; room: number }
  | { kind: 'address'; who: number; how: 'subscription' | 'all_callbacks'; room: number }
  | { kind: 'beginFanOut'; name: string }
  | { kind: 'work'; room: number; laneRoom: number; fanOut: boolean; settle: Outcome[] }
  | { kind: 'settle'; which: number; outcome: Outcome; waitMs: number }
  | { kind: 'settleStale'; which: number; outcome: Outcome }
  | { kind: 'hold' | 'resume' | 'unsubscribe'; who: number }
  | { kind: 'retry'; which: number }
  | { kind: 'sweep'; limit: number }
  | { kind: 'retain'; ageMs: number; limit: number }
  | { kind: 'tidyStatistics'; limit: number }
  | { kind: 'startNode' }
  | { kind: 'wait'; ms: number };

/** Settings of lanes. */
export interface Chosen {
  ordered: boolean;
  rate: number | undefined;
  concurrency: number | undefined;
}

export function controlsOf({ ordered, rate: ratePerSecond, concurrency }: Chosen): Controls {
  return { ...noControls, ordered, ratePerSecond, concurrency };
}
