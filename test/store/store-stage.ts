// Where the suites of the store contract play: a store, the clock it reads, an app and somebody who claims.
// Fresh for every test, where a claim would see the lanes of the tests before.
import { strict as assert } from 'node:assert';
import { afterEach, beforeEach } from 'node:test';
import type { App } from '../../src/core/app.ts';
import type { Store } from '../../src/store/store.ts';
import { newApp, type OpenSubject, type Subject } from './contract.ts';
import { attachDispatcher, type TestDispatcher } from './test-dispatcher.ts';

export interface StoreStage {
  readonly clock: { ms: number };
  readonly subject: Subject;
  readonly store: Store;
  readonly dispatcher: TestDispatcher;
  readonly app: App;
  /** Where anything outlives the close: another store, with another who claims. */
  reopen: () => Promise<void>;
}

type Opened = Pick<StoreStage, 'subject' | 'store' | 'dispatcher' | 'app'>;

export const startMs = 1_700_000_000_000;

/** Another one for every test of the suite around it, from its beginning to its end. */
export function freshStage(open: OpenSubject): StoreStage {
  const clock = { ms: startMs };
  let opened: Opened | undefined;
  beforeEach(async () => {
    clock.ms = startMs;
    const subject = await open({ nowMs: () => clock.ms });
    const { store } = subject;
    opened = { subject, store, dispatcher: attachDispatcher(store), app: await newApp(store) };
  });
  afterEach(async () => opened?.subject.dispose());
  const on = (): Opened => {
    assert(opened !== undefined, 'no test runs');
    return opened;
  };
  return {
    clock,
    get subject() {
      return on().subject;
    },
    get store() {
      return on().store;
    },
    get dispatcher() {
      return on().dispatcher;
    },
    get app() {
      return on().app;
    },
    reopen: async () => {
      const before = on();
      const store = await before.subject.reopen?.();
      assert(store !== undefined, 'nothing outlives the close');
      opened = { ...before, store, dispatcher: attachDispatcher(store) };
    },
  };
}
