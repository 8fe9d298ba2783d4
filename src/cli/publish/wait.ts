// Waits until all deliveries of an event have ended, polling at growing intervals. Each poll reads
// a bounded page, however many receivers there are.
import type { Accepted, CallOptions, Client } from '../../client/client.ts';
import { limits } from '../../core/limits/limits.ts';
import { CliFailure } from '../terminal/failure.ts';
import { askUntil } from '../service/asking.ts';
import { startProgress } from '../terminal/progress.ts';
import type { Terminal } from '../terminal/terminal.ts';

export interface Ended {
  delivered: number;
  dead: number;
  cancelled: number;
}

export async function waitForDeliveries(
  { client, terminal }: { client: Client; terminal: Terminal },
  { eventId, deliveries }: Pick<Accepted, 'eventId' | 'deliveries'>,
): Promise<Ended> {
  using progress = startProgress('Delivering', terminal);
  let total = deliveries;
  return await askUntil(terminal, {
    ask: async (signal) => {
      const options = { ...patient, signal };
      total ??= (await client.events.get(eventId, options)).deliveries;
      const pending = await client.deliveries
        .list({ eventId, state: 'pending', limit: limits.pageItemsMax }, options)
        .page();
      const isAllKnown = total !== null && pending.nextCursor === null;
      const waiting = pending.items.length;
      if (isAllKnown && waiting === 0) return count(client, eventId, options);
      const done = Math.max(0, (total ?? waiting) - waiting);
      progress.show({ done, total: isAllKnown ? (total ?? undefined) : undefined });
      return undefined;
    },
    left: () =>
      new CliFailure(
        `Stopped waiting; delivery of ${eventId} continues. Check on it:\n` +
          `  ringback deliveries --event-id ${eventId}`,
        { exitCode: 130 },
      ),
  });
}

/** The service has answered before, so short outages are waited out. */
const patient = { retries: limits.longRetries };

async function count(client: Client, eventId: string, options: CallOptions): Promise<Ended> {
  const ended = { delivered: 0, dead: 0, cancelled: 0 };
  for await (const { state } of client.deliveries.list(
    { eventId, limit: limits.pageItemsMax },
    options,
  )) {
    if (state !== 'due' && state !== 'running') ended[state] += 1;
  }
  return ended;
}
