// Leases of transactions whose outcome nobody knows. One of them that was committed after all has leased
// deliveries to a node that never heard of it and that is alive, so that no rescue would free them.
import { freeLeases } from './nodes.ts';
import { transactSql } from './transact.ts';
import type { Tx } from './tx.ts';

export interface Doubt {
  xid: string;
  leases: readonly number[];
}

export interface Doubts {
  isEmpty(): boolean;
  add(doubt: Doubt): void;
  /** Frees what is leased by those that have ended, and gives them. */
  settle(tx: Tx, nowMs: number): Promise<Doubt[]>;
  /** What `settle` gave, once that is committed. */
  forget(settled: readonly Doubt[]): void;
}

export function createDoubts(): Doubts {
  let open: readonly Doubt[] = [];
  return {
    isEmpty: () => open.length === 0,
    add: (doubt) => {
      open = [...open, doubt];
    },
    settle: async (tx, nowMs) => {
      const ended: Doubt[] = [];
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
