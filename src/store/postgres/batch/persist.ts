// Runs a transaction until it is committed, or until the reason why it cannot be is known.
import { timeOf } from '../../../core/base/id.ts';
import { limits } from '../../../core/limits/limits.ts';
import type { StoreFailure } from '../../port/transport-protocol.ts';
import type { Offer } from '../../port/delivery-verbs.ts';
import type { InDoubtCommits } from './in-doubt-commits.ts';
import { failureKind, unavailable } from '../connection/failure.ts';
import type { Upkeep } from '../upkeep/upkeep.ts';
import type { ReconnectingClient } from '../connection/reconnecting-client.ts';
import type { Way } from '../connection/savepoint.ts';
import type { Done, TransactDeps } from '../connection/transact.ts';
import { OutcomeUnknown, transact } from '../connection/transact.ts';
import type { Tx } from '../connection/tx.ts';

export interface PersistDeps {
  world: TransactDeps['world'];
  house: Pick<Upkeep, 'makeDays'>;
  doubts: Pick<InDoubtCommits, 'add'>;
}

export interface Persisting {
  link: ReconnectingClient;
  /** The leases that the transaction may give. */
  leases: readonly number[];
  /** The events whose day partitions are needed. */
  events: () => Promise<readonly string[]>;
}

export type Persist = <T>(
  persisting: Persisting,
  body: (tx: Tx, way: Way) => Promise<Done<T>>,
) => Promise<T | StoreFailure>;

export function createPersist({ world, house, doubts }: PersistDeps): Persist {
  return async ({ link, leases, events }, body) => {
    let way: Way = 'together';
    for (let tries = 1; ; tries += 1) {
      try {
        return await transact({ link, world }, async (tx) => body(tx, way));
      } catch (error) {
        const isUnknown = error instanceof OutcomeUnknown;
        if (isUnknown && leases.length > 0) doubts.add({ xid: error.xid, leases });
        const kind = isUnknown ? 'unavailable' : failureKind(error);
        if (kind === 'unavailable' || tries >= limits.transactionTriesMax) {
          return unavailable(error);
        }
        if (kind === 'item') {
          if (way === 'alone') return unavailable(error); // No item is the cause, so it is the store.
          way = 'alone';
        }
        if (kind === 'missing_partition') {
          const failed = await makeDays(house, events);
          if (failed !== undefined) return failed;
        }
      }
    }
  };
}

async function makeDays(
  house: PersistDeps['house'],
  events: Persisting['events'],
): Promise<StoreFailure | undefined> {
  try {
    await house.makeDays((await events()).map(timeOf));
    return undefined;
  } catch (error) {
    return unavailable(error);
  }
}

export function leasesOf(offer: Offer | undefined): number[] {
  return offer === undefined ? [] : [offer.lease];
}

/** For transactions that only move deliveries within the queue and need no day. */
export async function noEvents(): Promise<string[]> {
  return [];
}

export function isFailure(value: object): value is StoreFailure {
  return 'kind' in value && (value.kind === 'unavailable' || value.kind === 'fatal');
}
