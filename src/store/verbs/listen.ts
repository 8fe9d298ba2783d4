// What makes a callback reachable: a lane for its deliveries and a pattern that finds it.
import { ownPrefix } from '../../core/event.ts';
import { integer } from '../row.ts';
import type { Script } from '../statement.ts';
import { all, only } from '../statement.ts';

export const listenSql = {
  lane: `
    insert into lane (app, subscription, state, version) values (?1, ?2, ?3, ?4) returning no`,
  pattern: `
    insert into pattern (app, contract, pattern, callback, born, lane)
    values (?1, ?2, ?3, ?4, ?5, ?6)`,
} as const;

/** As the table `lane` writes them; 2 is ended. */
const laneState = { open: 0, held: 1 } as const;

export interface NewLane {
  appNo: number;
  subscription: number;
  /** A held one waits for its subscription to become active. */
  state: 'open' | 'held';
  version: number;
}

/** The new lane's number. */
export function* addLane({ appNo, subscription, state, version }: NewLane): Script<number> {
  const row = yield* only(listenSql.lane, appNo, subscription, laneState[state], version);
  return integer(row, 'no');
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

/** Ringback's own events belong to no contract. */
export function* addPattern(input: NewPattern): Script<void> {
  const { appNo, pattern, callback, born, lane } = input;
  const contract = pattern.startsWith(ownPrefix) ? '' : input.contract;
  yield* all(listenSql.pattern, appNo, contract, pattern, callback, born, lane);
}
