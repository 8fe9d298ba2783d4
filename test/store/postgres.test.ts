// The contract on PostgreSQL; each suite or test has its own, emptied database.
import { after } from 'node:test';
import { realWorld } from '../../src/core/base/world.ts';
import { openCluster } from '../../src/store/open/open.ts';
import { storeDatabases } from '../postgres/store-database.ts';
import type { OpenSubject } from './subject.ts';
import { contracts, replayContracts } from './contracts.ts';

const databases = storeDatabases();
after(async () => databases[Symbol.asyncDispose]());

const onPostgres: OpenSubject = async ({ nowMs }) => {
  const database = await databases.take();
  const options = { url: database.url, world: { ...realWorld(), nowMs } } as const;
  let store = await openCluster({ ...options, clock: 'given' });
  return {
    store,
    reopen: async () => {
      await store.close();
      store = await openCluster({ ...options, clock: 'given' });
      return store;
    },
    dispose: async () => {
      await store.close();
      await database[Symbol.asyncDispose]();
    },
  };
};

for (const contract of [...contracts, ...replayContracts]) {
  contract('PostgreSQL', onPostgres);
}
