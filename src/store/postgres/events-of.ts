// Which events a batch of edits brings into the history, for when their days are missing there.
import type { EditCall } from '../call.ts';
import { inboxIds } from './inbox.ts';
import type { Link } from './link.ts';

/** New ones, and those that are rejected out of the inbox: they may have waited there for days. */
export async function eventsOf(link: Link, edits: readonly EditCall[]): Promise<string[]> {
  const published = edits.flatMap((call) => (call.verb === 'publish' ? call.input.events : []));
  const rejected = edits.flatMap((call) => (call.verb === 'rejectInbox' ? [call.input.no] : []));
  const ids = published.map(({ id }) => id);
  if (rejected.length === 0) return ids;
  return [...ids, ...(await link.use(async (tx) => inboxIds(tx, rejected)))];
}
