// A store under a whole service, for subscriptions with a subject and unconfirmed ones: adds to subscribe calls what
// only the exchange with an API tells otherwise.
import assert from 'node:assert/strict';
import type { ExternalDeps } from '../src/service/external-deps.ts';
import { openStore } from '../src/store/open/open.ts';
import type { NewSubscription, Store } from '../src/store/port/store.ts';
import { memoryStore } from './store/migrated-memory.ts';

export interface SubjectStore {
  openStore: NonNullable<ExternalDeps['openStore']>;
  /** What subscribe calls add from now on. */
  adding: Pick<NewSubscription, 'subject' | 'confirmByMs' | 'exchange'>;
  /** The store, once it is open. */
  store: () => Store;
}

export function subjectStore(): SubjectStore {
  const adding: SubjectStore['adding'] = {};
  let opened: Store | undefined;
  return {
    adding,
    store: () => {
      assert(opened, 'The store is open');
      return opened;
    },
    openStore: async (options) => {
      const isMemory = 'dataDir' in options && options.dataDir === ':memory:';
      const store = isMemory ? memoryStore(options) : await openStore(options);
      opened = store;
      return {
        ...store,
        edit: async (verb, input, queued) => {
          if (verb === 'subscribe' && 'subscription' in input) {
            Object.assign(Object(input.subscription), adding);
          }
          return store.edit(verb, input, queued);
        },
      };
    },
  };
}
