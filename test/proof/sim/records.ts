// The records that clients keep of their requests and responses.
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
  /** A change got no response, so its outcome is unknown. */
  isUnsure: boolean;
  isRotated: boolean;
  isPaused: boolean;
}

export type Publishing = Omit<Publish, 'calls'> & { calls: Writable<PublishCall>[] };

export type Replaying = Writable<Omit<ReplayAsked, 'ids'>> & { ids: Set<string> };
