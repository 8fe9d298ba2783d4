// Counts the round trips of connections through a proxy: messages sent before the responses to earlier ones belong to one
// round trip.
import type { Passing, PostgresProxy } from '../postgres/proxy.ts';

export interface Trips {
  /** The counts of the connection that has run a statement with this text. */
  of(sql: string): { trips: number; statements: number };
  reset(): void;
}

interface Connection {
  trips: number;
  /** Texts of statements, in order. */
  texts: string[];
  open: number;
  isAsking: boolean;
}

export function countTrips(proxy: PostgresProxy): Trips {
  const connections = new Map<number, Connection>();
  const note = (message: Passing): false => {
    const known = connections.get(message.connection);
    const one = known ?? { trips: 0, texts: [], open: 0, isAsking: false };
    connections.set(message.connection, one);
    if (message.side === 'backend') answer(one, message);
    else ask(one, message);
    return false;
  };
  void proxy.hold('before', note); // Only observes, and holds nothing.
  return {
    of: (sql) => {
      const found = [...connections.values()].find(({ texts }) =>
        texts.some((text) => text.includes(sql)),
      );
      return { trips: found?.trips ?? 0, statements: found?.texts.length ?? 0 };
    },
    reset: () => {
      for (const one of connections.values()) {
        one.trips = 0;
        one.texts = [];
      }
    },
  };
}

function ask(one: Connection, { type, sql }: Passing): void {
  if (!one.isAsking) one.trips += 1;
  one.isAsking = true;
  if (type === 'S' || type === 'Q' || type === 'startup') one.open += 1;
  if (sql !== undefined) one.texts.push(sql);
}

/** `Z` (ReadyForQuery): the server has answered everything up to a Sync or a query. */
function answer(one: Connection, { type }: Passing): void {
  if (type !== 'Z') return;
  one.open -= 1;
  if (one.open === 0) one.isAsking = false;
}
