// Releases deliveries that this node may hold without knowing it, because the outcome of a commit
// stayed unknown.
import type { StoreFailure } from '../../port/transport-protocol.ts';
import type { InDoubtCommits } from './in-doubt-commits.ts';
import type { ReconnectingClient } from '../connection/reconnecting-client.ts';
import { isFailure, noEvents, type Persist } from './persist.ts';

export interface DoubtedDeps {
  doubts: InDoubtCommits;
  link: ReconnectingClient;
  persist: Persist;
}

export async function freeDoubted(
  { doubts, link, persist }: DoubtedDeps,
  nowMs: number,
): Promise<StoreFailure | undefined> {
  if (doubts.isEmpty()) return undefined;
  const settled = await persist({ link, leases: [], events: noEvents }, async (tx) => ({
    result: await doubts.settle(tx, nowMs),
    written: [],
  }));
  if (isFailure(settled)) return settled;
  doubts.forget(settled);
  return undefined;
}
