// Runs a transaction until it is committed, or until the reason why it cannot be is known.
import { timeOf } from '../../../core/base/id.ts';
import { limits } from '../../../core/limits/limits.ts';
import type { StoreFailure } from '../../port/transport-protocol.ts';
import type { Offer } from '../../port/delivery-verbs.ts';
import { failureKind, unavailable } from '../connection/failure.ts';
import type { PartitionUpkeep } from '../upkeep/retain.ts';
import type { ReconnectingClient } from '../connection/reconnecting-client.ts';
import type { BatchMode, Tx } from '../connection/tx.ts';
import {
  type Done,
  type TransactDeps,
  OutcomeUnknown,
  transact,
  transactSql,
} from '../connection/transact.ts';
import { freeLeases } from '../cluster/nodes.ts';

export interface PersistDeps {
  world: TransactDeps['world'];
  upkeep: Pick<PartitionUpkeep, 'makeDays'>;
  inDoubt: Pick<InDoubtCommits, 'add'>;
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
  body: (tx: Tx, mode: BatchMode) => Promise<Done<T>>,
) => Promise<T | StoreFailure>;

export function createPersist({ world, upkeep, inDoubt }: PersistDeps): Persist {
  return async ({ link, leases, events }, body) => {
    let mode: BatchMode = 'together';
    for (let tries = 1; ; tries += 1) {
      try {
        return await transact({ link, world }, async (tx) => body(tx, mode));
      } catch (error) {
        const isUnknown = error instanceof OutcomeUnknown;
        if (isUnknown && leases.length > 0) inDoubt.add({ xid: error.xid, leases });
        const kind = isUnknown ? 'unavailable' : failureKind(error);
        if (kind === 'unavailable' || tries >= limits.transactionTriesMax) {
          return unavailable(error);
        }
        if (kind === 'item') {
          if (mode === 'alone') return unavailable(error); // No item is the cause, so it is the store.
          mode = 'alone';
        }
        if (kind === 'missing_partition') {
          const failed = await makeDays(upkeep, events);
          if (failed !== undefined) return failed;
        }
      }
    }
  };
}

async function makeDays(
  upkeep: PersistDeps['upkeep'],
  events: Persisting['events'],
): Promise<StoreFailure | undefined> {
  try {
    await upkeep.makeDays((await events()).map(timeOf));
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

// Leases of transactions whose outcome is unknown. Such a transaction may have committed and leased
// deliveries to this node, which does not know of them and is alive, so no rescue would free them.

export interface InDoubtCommit {
  xid: string;
  leases: readonly number[];
}

export interface InDoubtCommits {
  isEmpty(): boolean;
  add(commit: InDoubtCommit): void;
  /** Frees deliveries with leases of transactions that have ended; returns those transactions. */
  settle(tx: Tx, nowMs: number): Promise<InDoubtCommit[]>;
  /** Call with the result of `settle` once it is committed. */
  forget(settled: readonly InDoubtCommit[]): void;
}

export function createInDoubtCommits(): InDoubtCommits {
  let open: readonly InDoubtCommit[] = [];
  return {
    isEmpty: () => open.length === 0,
    add: (commit) => {
      open = [...open, commit];
    },
    settle: async (tx, nowMs) => {
      const ended: InDoubtCommit[] = [];
      for (const commit of open) {
        const [row] = await tx.query(transactSql.status, [commit.xid]);
        if (row?.['status'] !== 'in progress') ended.push(commit);
      }
      const leases = ended.flatMap((commit) => commit.leases);
      await freeLeases(tx, leases, nowMs);
      return ended;
    },
    forget: (settled) => {
      open = open.filter((commit) => !settled.includes(commit));
    },
  };
}
