// The leases that this node knows it holds. A failover may undo the latest commits: then an outcome
// is lost, and its delivery still looks leased to this node. The node is alive, so no other node
// would free it.
import { deliveryKey, type DeliveryName, holderOf } from '../../../core/domain/delivery.ts';
import type { StoreFailure, WorkReply } from '../../port/transport-protocol.ts';
import type { Offer, Work } from '../../port/delivery-verbs.ts';
import { integer, text } from '../../sql/row.ts';
import { unavailable } from '../connection/failure.ts';
import { epochOn } from '../connection/transact.ts';
import type { ReconnectingClient } from '../connection/reconnecting-client.ts';
import { freeNamed, nodesSql } from '../cluster/nodes.ts';
import { isFailure, noEvents, type Persist } from './persist.ts';

export interface LeaseLedger {
  /** A publish has leased deliveries to this node. */
  took: (fresh: readonly DeliveryName[], offer: Offer | undefined) => void;
  /** A cycle of work has leased and settled deliveries. */
  worked: (work: Work, reply: WorkReply) => void;
  /**
   * If the server has begun another life: frees deliveries that are leased to this node but not
   * held by it.
   */
  freeForgotten: (nowMs: number) => Promise<StoreFailure | undefined>;
}

export interface LeaseLedgerDeps {
  link: ReconnectingClient;
  persist: Persist;
  /**
   * Runs `body` while nothing is being leased, because such deliveries are not yet recorded as
   * held.
   */
  alone: <T>(body: () => Promise<T>) => Promise<T>;
}

/** Its size is bounded by the window of the node and the outcomes that wait to be settled. */
export function createLeaseLedger({ link, persist, alone }: LeaseLedgerDeps): LeaseLedger {
  let held = new Map<string, number>();
  let epoch: string | undefined;
  let node: number | undefined;
  const offered = (offer: Offer | undefined): void => {
    if (offer === undefined || holderOf(offer.lease) === node) return;
    node = holderOf(offer.lease);
    held = new Map(); // Leases under another number belong to other nodes.
  };
  const take = (some: readonly (DeliveryName & { lease: number })[]): void => {
    for (const one of some) held.set(deliveryKey(one), one.lease);
  };
  return {
    took: (fresh, offer) => {
      offered(offer);
      if (offer !== undefined) for (const one of fresh) held.set(deliveryKey(one), offer.lease);
    },
    worked: ({ settlements, claim, fanOut }, reply) => {
      if (reply.kind !== 'worked') return;
      for (const [at, { kind }] of reply.settled.entries()) {
        const one = settlements[at];
        if (kind !== 'done' || one === undefined || held.get(deliveryKey(one)) !== one.lease)
          continue;
        held.delete(deliveryKey(one));
      }
      offered(claim ?? fanOut);
      take(reply.claimed);
      take(reply.fannedOut.deliveries);
    },
    freeForgotten: async (nowMs) => {
      let now: string;
      try {
        now = await link.withClient(epochOn);
      } catch (error) {
        return unavailable(error);
      }
      const isAnother = epoch !== undefined && epoch !== now;
      if (isAnother && node !== undefined) {
        const holder = node;
        const freed = await alone(async () =>
          persist({ link, leases: [], events: noEvents }, async (tx) => {
            const rows = await tx.query(nodesSql.heldBy, [holder]);
            const all = rows.map((row) => ({
              event: text(row, 'event'),
              n: integer(row, 'n'),
              lease: integer(row, 'lease'),
              lane: integer(row, 'lane'),
            }));
            const forgotten = all.filter((one) => held.get(deliveryKey(one)) !== one.lease);
            return { result: { freed: await freeNamed(tx, forgotten, nowMs) }, written: [] };
          }),
        );
        if (isFailure(freed)) return freed;
      }
      epoch = now;
      return undefined;
    },
  };
}
