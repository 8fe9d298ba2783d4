// The contract on SQLite: in memory without threads, and in a file with threads.
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbedded } from '../../src/store/open/open.ts';
import { memoryStore, migratedMemory } from './migrated-memory.ts';
import type { OpenSubject } from './subject.ts';
import { contracts, replayContracts } from './contracts.ts';

const inMemory: OpenSubject = async (world) => {
  const store = memoryStore({ world, onFatal: fail });
  return { store, reopen: undefined, dispose: async () => store.close() };
};

const inFile: OpenSubject = async (world) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'ringback-'));
  writeFileSync(join(dataDir, 'ringback.db'), migratedMemory().serialize());
  let store = await openEmbedded({ dataDir, world, onFatal: fail });
  return {
    store,
    reopen: async () => {
      await store.close();
      store = await openEmbedded({ dataDir, world, onFatal: fail });
      return store;
    },
    dispose: async () => {
      await store.close();
      await rm(dataDir, { recursive: true });
    },
  };
};

for (const contract of contracts) {
  contract('SQLite in memory', inMemory);
  contract('SQLite in a file, behind threads', inFile);
}

for (const contract of replayContracts) contract('SQLite in memory', inMemory);

function fail(error: Error): void {
  throw error;
}
