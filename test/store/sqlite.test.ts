// The contract on SQLite: in memory without a thread, and in a file behind threads.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../../src/store/open.ts';
import { storeContract } from './contract.ts';

storeContract('SQLite in memory', async (world) => {
  const store = await openStore({ dataDir: ':memory:', world, onFatal: fail });
  return { store, reopen: undefined, dispose: async () => store.close() };
});

storeContract('SQLite in a file, behind threads', async (world) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'ringback-'));
  let store = await openStore({ dataDir, world, onFatal: fail });
  return {
    store,
    reopen: async () => {
      await store.close();
      store = await openStore({ dataDir, world, onFatal: fail });
      return store;
    },
    dispose: async () => {
      await store.close();
      await rm(dataDir, { recursive: true });
    },
  };
});

function fail(error: Error): void {
  throw error;
}
