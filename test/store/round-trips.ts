// Counts how often a connection is asked and waited for, by what passes through a proxy: messages that leave before the
// answers to earlier ones are there belong to one round trip.
import type { Passing, PostgresProxy } from '../postgres/proxy.ts';

export interface Trips {
  /** Of the connection that has run a statement with this text. */
  of(sql: string): { trips: number; statements: number };
  reset(): void;
}

interface Connection {
  trips: number;
  /** Of statements, in their order. */
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
  void proxy.hold('before', note); // It holds nothing: it only looks.
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

/** `Z`: the server has answered all up to a Sync or a query. */
function answer(one: Connection, { type }: Passing): void {
  if (type !== 'Z') return;
  one.open -= 1;
  if (one.open === 0) one.isAsking = false;
}
