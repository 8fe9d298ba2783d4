// An in-memory adapter with access to its connection, for tests below the port.
import { strict as assert } from 'node:assert';
import type { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { idMaker } from '../../src/core/base/id.ts';
import { realWorld } from '../../src/core/base/world.ts';
import {
  editCall,
  editOutput,
  readCall,
  readOutput,
} from '../../src/store/port/transport-protocol.ts';
import type {
  FreshDelivery,
  Offer,
  NextWork,
  Settled,
  WorkOffers,
  Work,
  Worked,
} from '../../src/store/port/delivery-verbs.ts';
import { adapterOn } from '../../src/store/sqlite/batch/adapter.ts';
import { applyMigrations } from '../../src/store/sqlite/schema/apply-migrations.ts';
import type {
  EditInput,
  EditOutput,
  EditVerb,
  ReadInput,
  ReadOutput,
  ReadVerb,
} from '../../src/store/port/store.ts';
import { migratedMemory } from './migrated-memory.ts';

export const migrationsDir = fileURLToPath(new URL('../../migrations/sqlite', import.meta.url));
export const newId = idMaker(realWorld());

export interface Opened {
  db: DatabaseSync;
  clock: { ms: number };
  /** Asserts that the edit was written. */
  edit: <V extends EditVerb>(verb: V, input: EditInput<V>) => EditOutput<V>;
  read: <V extends ReadVerb>(verb: V, input: ReadInput<V>) => ReadOutput<V>;
  /** Like `edit`, and also returns the deliveries inserted with the offered lease. */
  offering: <V extends EditVerb>(
    offer: Offer,
    verb: V,
    input: EditInput<V>,
    workOffers?: WorkOffers,
  ) => Written<V>;
  /** Asserts that every settlement was written. */
  work: (work: Partial<Omit<Work, 'nowMs'>>) => DoneWork;
}

export type DoneWork = Worked & { settled: readonly Settled[] };

export interface Written<V extends EditVerb> {
  output: EditOutput<V>;
  fresh: readonly FreshDelivery[];
  nextWork: NextWork;
  /** The work claimed after it. */
  worked: Worked | undefined;
}

/** `given`: a database to migrate, if needed. */
export function openMemory(given?: DatabaseSync): Opened {
  if (given !== undefined) applyMigrations(given, { database: 'given', migrationsDir, nowMs: 1 });
  const db = given ?? migratedMemory();
  const adapter = adapterOn(db);
  const clock = { ms: 1_700_000_000_000 };
  const write = <V extends EditVerb>(
    offer: Offer | undefined,
    verb: V,
    input: EditInput<V>,
    workOffers?: WorkOffers,
  ): Written<V> => {
    const reply = adapter.run({
      nowMs: clock.ms,
      settlements: [],
      edits: [editCall(verb, input)],
      offer,
      workOffers,
    });
    assert(reply.kind === 'written', JSON.stringify(reply));
    const [first] = reply.edits;
    assert(first?.kind === 'done', JSON.stringify(first));
    const { fresh, nextWork, worked } = reply;
    return { output: editOutput(verb, first.output), fresh, nextWork, worked };
  };
  return {
    db,
    clock,
    edit: (verb, input) => write(undefined, verb, input).output,
    offering: write,
    work: ({ settlements = [], claim, fanOut }) => {
      const reply = adapter.work({ nowMs: clock.ms, settlements, claim, fanOut });
      assert(reply.kind === 'worked', JSON.stringify(reply));
      const { claimed, fannedOut, readyMs } = reply;
      const settled = reply.settled.map((one) => {
        assert(one.kind === 'done', JSON.stringify(one));
        return one.output;
      });
      return { settled, claimed, fannedOut, readyMs };
    },
    read: (verb, input) => {
      const reply = adapter.read(readCall(verb, input));
      assert(reply.kind === 'done', JSON.stringify(reply));
      return readOutput(verb, reply.output);
    },
  };
}
