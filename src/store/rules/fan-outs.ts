// A large fan-out and its progress, as stored in its row.
import { strict as assert } from 'node:assert';
import type { SkippedCallback } from '../../core/domain/event.ts';
import { limits } from '../../core/limits/limits.ts';
import { type Row, bytes, integer, maybe, text } from '../sql/row.ts';
import { skippedIn } from './listeners.ts';
import type { OfferSlots } from './offer-slots.ts';
import { all, type Script } from '../sql/statement.ts';

export interface FanningOut {
  event: string;
  appNo: number;
  contract: string;
  /** Version of the app when the event was accepted: the subscribers of that version receive it. */
  version: number;
  /** Patterns that match the event, in the order they are processed. */
  names: readonly string[];
  cursor: Cursor;
  slice: number;
  /** Deliveries inserted so far. */
  made: number;
  skipped: readonly SkippedCallback[] | undefined;
  sent: { eventName: string; payload: Uint8Array; trace: string | undefined };
}

/** The next callback is the first one after `callback` that has the pattern `names[step]`. */
export interface Cursor {
  step: number;
  callback: number;
}

/** The next matching callbacks, and where to continue; undefined after the last one. */
export interface ListenerPage<L> {
  listeners: L[];
  after: Cursor | undefined;
}

/**
 * How many callbacks a step reads. Deliveries beyond the room must be claimed later, at twice the
 * cost.
 */
export function stepFor(
  { room, ofApp, stepMax }: Pick<OfferSlots, 'room' | 'ofApp' | 'stepMax'>,
  { appNo, sent: { payload } }: Pick<FanningOut, 'appNo' | 'sent'>,
): number {
  const free = Math.min(room(), ofApp(appNo).unproven);
  const most = Math.min(Math.max(free, limits.fanOutStepMin), limits.fanOutStepMax);
  return payload.byteLength > limits.fanOutSharedBytesMax ? most : Math.min(most, stepMax);
}

export function toFanningOut(row: Row): FanningOut {
  return {
    event: text(row, 'event'),
    appNo: integer(row, 'app'),
    contract: text(row, 'contract'),
    version: integer(row, 'version'),
    names: toNames(text(row, 'names')),
    cursor: { step: integer(row, 'step'), callback: integer(row, 'callback') },
    slice: integer(row, 'slice'),
    made: integer(row, 'made'),
    skipped: skippedIn(row),
    sent: {
      eventName: text(row, 'name'),
      payload: bytes(row, 'payload'),
      trace: maybe(text, row, 'trace'),
    },
  };
}

function toNames(json: string): string[] {
  const names: unknown = JSON.parse(json);
  assert(Array.isArray(names), 'Cannot read a fan-out: its names are no list');
  return names.map((name: unknown) => {
    assert(typeof name === 'string', 'Cannot read a fan-out: a name is no text');
    return name;
  });
}

// Fan-outs that cannot be read or cannot continue are skipped for the life of this process, so that
// all others proceed. Their rows stay as they are, so that they can be repaired; the next start
// tries again.

export interface StalledFanOuts {
  /** All events up to this one are skipped, and those of `events()`. */
  upTo(): string;
  events(): readonly string[];
  /** The same events as JSON. */
  list(): string;
  isEmpty(): boolean;
  add(event: string, reason: string): void;
  /**
   * Messages about new entries since the last call. Call it after the commit, so that a failed
   * transaction does not lose any.
   */
  news(): string | undefined;
}

export function createStalledFanOuts(): StalledFanOuts {
  const events = new Set<string>();
  let list = '[]';
  let upTo = '';
  let unreported: string[] = [];
  return {
    upTo: () => upTo,
    events: () => [...events],
    list: () => list,
    isEmpty: () => events.size === 0 && upTo === '',
    add: (event, reason) => {
      // The oldest fan-out is always tried first, so every older one has ended or is skipped as
      // well.
      if (events.size >= limits.stalledFanOutsMax) {
        upTo = event > upTo ? event : upTo;
        events.clear();
      } else events.add(event);
      list = JSON.stringify([...events]);
      unreported = [...unreported, `Cannot fan out "${event}", skipping it: ${reason}`];
    },
    news: () => {
      const reported = unreported.join('\n');
      unreported = [];
      return reported === '' ? undefined : reported;
    },
  };
}

/** Adds the pending messages, if there are any. */
export function withFailures<T extends object>(
  fannedOut: T,
  stalled: StalledFanOuts,
): T & { failure?: string } {
  const failure = stalled.news();
  return failure === undefined ? fannedOut : { ...fannedOut, failure };
}

// Ends fan-outs that were skipped until their events were older than the retention. They were not
// repaired in time, and would block retention forever: their events are deleted, with the
// deliveries made so far.

export const endFanOutsSql = {
  upTo: 'select event from fanout where event <= ?1 and event < ?2 order by event limit ?3 + 0',
  count: `
    update event set deliveries = (select made from fanout where fanout.event = event.id)
    where id = ?1 and deliveries is null
    returning id`,
  end: 'delete from fanout where event = ?1 returning event',
} as const;

/** `below`: ends fan-outs of events with lower ids. */
export function* endFanOuts(
  stalled: Pick<StalledFanOuts, 'upTo' | 'events'>,
  { below, limit }: { below: string; limit: number },
): Script<void> {
  const older = yield* all(endFanOutsSql.upTo, stalled.upTo(), below, limit);
  const events = [...older.map((row) => text(row, 'event')), ...stalled.events()];
  for (const event of events.filter((each) => each < below)) {
    yield* all(endFanOutsSql.count, event);
    yield* all(endFanOutsSql.end, event);
  }
}
