// Settlements as the engine would write them, for tests that end a leased delivery.
import type { Leased } from '../../src/core/domain/delivery.ts';
import type { Settlement } from '../../src/store/port/delivery-verbs.ts';
import { attempt } from './subject.ts';

export type Outcome = Settlement['outcome']['kind'];

export function settlementOf(
  { event, n, lease }: Pick<Leased, 'event' | 'n' | 'lease'>,
  kind: Outcome,
  dueMs: number,
  nowMs = dueMs,
): Settlement {
  const name = { event, n, lease };
  const waitMs = dueMs - nowMs;
  switch (kind) {
    case 'delivered':
    case 'gone':
      return { ...name, outcome: { kind }, attempt: attempt() };
    case 'cancelled':
      return { ...name, outcome: { kind }, attempt: undefined };
    case 'retry':
      return { ...name, outcome: { kind, waitMs }, attempt: attempt({ startedMs: dueMs }) };
    case 'dead':
      return { ...name, outcome: { kind, reason: 'exhausted' }, attempt: attempt() };
    case 'released':
      return { ...name, outcome: { kind, waitMs }, attempt: undefined };
  }
}
