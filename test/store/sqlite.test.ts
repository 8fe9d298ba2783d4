// The contract on SQLite: in memory without a thread, and in a file behind threads.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbedded } from '../../src/store/open.ts';
import type { OpenSubject } from './contract.ts';
import { storeContract } from './contract.ts';
import { deliveryContract } from './delivery-contract.ts';
import { retentionContract } from './retention-contract.ts';
import { searchContract } from './search-contract.ts';

const inMemory: OpenSubject = async (world) => {
  const store = await openEmbedded({ dataDir: ':memory:', world, onFatal: fail });
  return { store, reopen: undefined, dispose: async () => store.close() };
};

const inFile: OpenSubject = async (world) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'ringback-'));
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

for (const contract of [storeContract, deliveryContract, retentionContract, searchContract]) {
  contract('SQLite in memory', inMemory);
  contract('SQLite in a file, behind threads', inFile);
}

function fail(error: Error): void {
  throw error;
}
