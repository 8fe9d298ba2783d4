// A PostgreSQL for scenarios, with the network latency of a database on another machine: without it, waiting for the
// database would look free. It is the same for all contenders.
import { startLatency } from '../../test/postgres/latency.ts';
import { startPostgres } from '../../test/postgres/server.ts';

export interface Databases extends AsyncDisposable {
  /** The URL of a new database. `roundTripMs`: another latency than the default. */
  createDatabase(name: string, roundTripMs?: number): Promise<string>;
  dropDatabase(name: string): Promise<void>;
  /** Stops all processes of the server, until `thaw`. */
  freeze(): void;
  thaw(): void;
}

/** `latencyMs` is added to each round trip. */
export async function startDatabases(latencyMs: number): Promise<Databases> {
  await using made = new AsyncDisposableStack();
  const postgres = made.use(await startPostgres());
  const ways = new Map<string, AsyncDisposable>();
  made.defer(async () => {
    for (const way of ways.values()) await way[Symbol.asyncDispose]();
  });
  const kept = made.move();
  return {
    createDatabase: async (name, roundTripMs = latencyMs) => {
      const url = await postgres.createDatabase(name);
      if (roundTripMs === 0) return url;
      const way = await startLatency(url, roundTripMs);
      ways.set(name, way);
      return way.url;
    },
    dropDatabase: async (name) => {
      await postgres.dropDatabase(name);
      await ways.get(name)?.[Symbol.asyncDispose]();
      ways.delete(name);
    },
    freeze: () => postgres.freeze(),
    thaw: () => postgres.thaw(),
    [Symbol.asyncDispose]: async () => kept.disposeAsync(),
  };
}
