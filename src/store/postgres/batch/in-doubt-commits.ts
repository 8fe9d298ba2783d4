// Leases of transactions whose outcome is unknown. Such a transaction may have committed and leased
// deliveries to this node, which does not know of them and is alive, so no rescue would free them.
import { freeLeases } from '../cluster/nodes.ts';
import { transactSql } from '../connection/transact.ts';
import type { Tx } from '../connection/tx.ts';

export interface InDoubtCommit {
  xid: string;
  leases: readonly number[];
}

export interface InDoubtCommits {
  isEmpty(): boolean;
  add(doubt: InDoubtCommit): void;
  /** Frees deliveries with leases of transactions that have ended; returns those transactions. */
  settle(tx: Tx, nowMs: number): Promise<InDoubtCommit[]>;
  /** Call with the result of `settle` once it is committed. */
  forget(settled: readonly InDoubtCommit[]): void;
}

export function createInDoubtCommits(): InDoubtCommits {
  let open: readonly InDoubtCommit[] = [];
  return {
    isEmpty: () => open.length === 0,
    add: (doubt) => {
      open = [...open, doubt];
    },
    settle: async (tx, nowMs) => {
      const ended: InDoubtCommit[] = [];
      for (const doubt of open) {
        const [row] = await tx.query(transactSql.status, [doubt.xid]);
        if (row?.['status'] !== 'in progress') ended.push(doubt);
      }
      const leases = ended.flatMap((doubt) => doubt.leases);
      await freeLeases(tx, leases, nowMs);
      return ended;
    },
    forget: (settled) => {
      open = open.filter((doubt) => !settled.includes(doubt));
    },
  };
}
