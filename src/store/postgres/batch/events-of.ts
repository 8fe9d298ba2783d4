// Which events a batch of edits adds to the history, needed when the partitions of their days are
// missing.
import type { EditCall } from '../../port/transport-protocol.ts';
import { inboxIds } from '../publish/inbox.ts';
import type { ReconnectingClient } from '../connection/reconnecting-client.ts';

/** New events, and rejected ones of the inbox, where they may have been for days. */
export async function eventsOf(
  link: ReconnectingClient,
  edits: readonly EditCall[],
): Promise<string[]> {
  const published = edits.flatMap((call) => (call.verb === 'publish' ? call.input.events : []));
  const rejected = edits.flatMap((call) => (call.verb === 'rejectInbox' ? [call.input.no] : []));
  const ids = published.map(({ id }) => id);
  if (rejected.length === 0) return ids;
  return [...ids, ...(await link.use(async (tx) => inboxIds(tx, rejected)))];
}
