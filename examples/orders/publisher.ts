// Brings what the outbox holds to Ringback, oldest first, until it is there. Every step may be repeated:
// the Idempotency-Key makes the second publish of an event the first one again.
import { RingbackError, type Client } from 'ringback/client';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from './database.ts';

const waitMsMin = 500;
const waitMsMax = 30_000;

export interface Publisher {
  /** There is something new in the outbox. */
  wake: () => void;
  /** Resolves when it has stopped. */
  ended: Promise<void>;
}

export function startPublisher(
  database: Database,
  ringback: Client,
  stopped: AbortSignal,
): Publisher {
  let news = Promise.withResolvers<void>();
  stopped.addEventListener('abort', () => news.resolve());
  const run = async (): Promise<void> => {
    let waitMs = waitMsMin;
    while (!stopped.aborted) {
      try {
        while (await publishOldest(database, ringback)) waitMs = waitMsMin;
        await news.promise;
        news = Promise.withResolvers();
      } catch (error) {
        // It stays in the outbox, and so does all that came after it.
        if (stopped.aborted) return;
        console.error(`Cannot publish, trying again in ${waitMs} ms: ${String(error)}`);
        await sleep(waitMs, undefined, { signal: stopped }).catch(() => undefined);
        waitMs = Math.min(waitMs * 2, waitMsMax);
      }
    }
  };
  return { wake: () => news.resolve(), ended: run() };
}

/** Whether there was one. */
async function publishOldest(database: Database, ringback: Client): Promise<boolean> {
  const next = database.oldestUnpublished();
  if (next === undefined) return false;
  const { id, event, payload: payloadText } = next;
  try {
    const { eventId } = await ringback.publish({ event, payloadText }, { idempotencyKey: id });
    // A crash before this line: published again, with the same key, and Ringback answers the same event.
    database.settle(id);
    console.log(`Published ${event} as ${eventId}`);
  } catch (error) {
    if (!isFinal(error)) throw error;
    console.error(`Ringback refuses ${event} (${id}): ${error.message}`);
    database.settle(id, error.message);
  }
  return true;
}

/** The event itself is wrong, today and tomorrow; whatever else fails will heal, and is tried again. */
function isFinal(error: unknown): error is RingbackError {
  return error instanceof RingbackError && [400, 413, 422].includes(error.status);
}
