// All hostile receivers of the proof, by the place where they stand: what is dialled decides what can be
// met there.
import { behaviours, type Behaviour } from '../../egress/receiver-behaviours.ts';
import { secureBehaviours, type Shown } from '../../egress/tls-behaviours.ts';

export type ReceiverKind = 'http' | 'https' | 'deaf' | 'absent';

export interface Case extends Behaviour {
  /** Of the event that all its attempts are about. */
  event: string;
  place: ReceiverKind;
  shows: Shown | undefined;
}

const nobody = { serve: () => undefined, shows: undefined } as const;

export const cases: readonly Case[] = [
  ...behaviours.map((one) => ({ ...one, place: 'http', shows: undefined }) as const),
  ...secureBehaviours.map((one) => ({ ...one, place: 'https' }) as const),
  { ...nobody, place: 'deaf', does: 'never accepts', is: 'timeout', isEndless: true } as const,
  { ...nobody, place: 'absent', does: 'does not listen', is: 'refused' } as const,
].map((one, index) => ({ ...one, event: `${one.place}.n${index}` }));

export function titleOf({ place, does }: Case): string {
  return place === 'https' ? `${does} (https)` : does;
}

/** A connection may be used again, so that it outlives its attempt. */
export function isWhole({ is }: Case): boolean {
  return is.endsWith('whole');
}
