// An adapter in memory together with its connection, for tests that look behind the port.
import { strict as assert } from 'node:assert';
import type { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { idMaker } from '../../src/core/id.ts';
import { realWorld } from '../../src/core/world.ts';
import { editCall, editOutput, readCall, readOutput } from '../../src/store/call.ts';
import { adapterOn } from '../../src/store/sqlite/adapter.ts';
import { applyMigrations } from '../../src/store/sqlite/apply-migrations.ts';
import { connect } from '../../src/store/sqlite/connect.ts';
import type {
  EditInput,
  EditOutput,
  EditVerb,
  ReadInput,
  ReadOutput,
  ReadVerb,
} from '../../src/store/store.ts';

export const migrationsDir = fileURLToPath(new URL('../../migrations/sqlite', import.meta.url));
export const newId = idMaker(realWorld());

export interface Opened {
  db: DatabaseSync;
  clock: { ms: number };
  /** Asserts that the edit was written. */
  edit: <V extends EditVerb>(verb: V, input: EditInput<V>) => EditOutput<V>;
  read: <V extends ReadVerb>(verb: V, input: ReadInput<V>) => ReadOutput<V>;
}

export function openMemory(db = connect({ path: ':memory:', access: 'write' })): Opened {
  applyMigrations(db, { database: ':memory:', migrationsDir, nowMs: 1 });
  const adapter = adapterOn(db);
  const clock = { ms: 1_700_000_000_000 };
  return {
    db,
    clock,
    edit: (verb, input) => {
      const reply = adapter.run({ nowMs: clock.ms, edits: [editCall(verb, input)] });
      assert(reply.kind === 'written', JSON.stringify(reply));
      const [first] = reply.edits;
      assert(first?.kind === 'done', JSON.stringify(first));
      return editOutput(verb, first.output);
    },
    read: (verb, input) => {
      const reply = adapter.read(readCall(verb, input));
      assert(reply.kind === 'done', JSON.stringify(reply));
      return readOutput(verb, reply.output);
    },
  };
}
