// Leases of transactions whose outcome is unknown. Such a transaction may have committed and leased
// deliveries to this node, which does not know of them and is alive, so no rescue would free them.
import { freeLeases } from '../cluster/nodes.ts';
import { transactSql } from '../connection/transact.ts';
import type { Tx } from '../connection/tx.ts';

export interface Doubt {
  xid: string;
  leases: readonly number[];
}

export interface Doubts {
  isEmpty(): boolean;
  add(doubt: Doubt): void;
  /** Frees deliveries with leases of transactions that have ended; returns those transactions. */
  settle(tx: Tx, nowMs: number): Promise<Doubt[]>;
  /** Call with the result of `settle` once it is committed. */
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
