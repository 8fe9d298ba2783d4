// What clients write down of what they were told.
import type {
  Publish,
  PublishCall,
  ReplayAsked,
  Silence,
  Subscribed,
} from '../invariants/history.ts';

export type Writable<T> = { -readonly [K in keyof T]: T[K] };

export interface Subscriber extends Writable<Omit<Subscribed, 'silences'>> {
  silences: Writable<Silence>[];
  url: string;
  /** A change was not answered: nobody knows what holds. */
  isUnsure: boolean;
  isRotated: boolean;
  isPaused: boolean;
}

export type Publishing = Omit<Publish, 'calls'> & { calls: Writable<PublishCall>[] };

export type Replaying = Writable<Omit<ReplayAsked, 'ids'>> & { ids: Set<string> };
