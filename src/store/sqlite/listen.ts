// What makes a callback reachable: a lane for its deliveries and a pattern that finds it.
import type { DatabaseSync } from 'node:sqlite';
import { integer, one } from './row.ts';

export const listenSql = {
  lane: `
    insert into lane (app, subscription, state, version)
    values (:app, :subscription, :state, :version) returning no`,
  pattern: `
    insert into pattern (app, contract, pattern, callback, born, lane)
    values (:app, :contract, :pattern, :callback, :born, :lane)`,
} as const;

/** As the table `lane` writes them; 2 is ended. */
const laneState = { open: 0, held: 1 } as const;

export interface Listen {
  /** A new lane's number. A held one waits for its subscription to become active. */
  addLane(input: NewLane): number;
  addPattern(input: NewPattern): void;
}

export interface NewLane {
  appNo: number;
  subscription: number;
  state: 'open' | 'held';
  version: number;
}

export interface NewPattern {
  appNo: number;
  contract: string;
  pattern: string;
  callback: number;
  lane: number;
  /** The app's version from which it hears. */
  born: number;
}

export function prepareListen(db: DatabaseSync): Listen {
  const insertLane = db.prepare(listenSql.lane);
  const insertPattern = db.prepare(listenSql.pattern);
  return {
    addLane: ({ appNo: app, subscription, state, version }) => {
      const row = insertLane.get({ app, subscription, state: laneState[state], version });
      return integer(one(row), 'no');
    },
    addPattern: ({ appNo, contract, pattern, callback, lane, born }) => {
      insertPattern.run({ app: appNo, contract, pattern, callback, born, lane });
    },
  };
}
