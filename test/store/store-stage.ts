// Where the suites of the store contract play: a store, the clock it reads, an app and somebody who claims.
// Fresh for every test, where a claim would see the lanes of the tests before.
import { strict as assert } from 'node:assert';
import { after, afterEach, before, beforeEach } from 'node:test';
import type { App } from '../../src/core/domain/app.ts';
import { idMaker } from '../../src/core/base/id.ts';
import { realWorld } from '../../src/core/base/world.ts';
import type { Store } from '../../src/store/port/store.ts';
import { newApp, type OpenSubject, type Subject } from './subject.ts';
import { attachDispatcher, type TestDispatcher } from './test-dispatcher.ts';

export interface StoreStage {
  readonly clock: { ms: number };
  /** Ids of its time. */
  readonly newId: () => string;
  readonly subject: Subject;
  readonly store: Store;
  readonly dispatcher: TestDispatcher;
  /** A test may go on with another. */
  app: App;
  /** Where anything outlives the close: another store, with another who claims. */
  reopen: () => Promise<void>;
}

interface Opened extends Pick<StoreStage, 'subject' | 'store' | 'dispatcher' | 'app'> {
  /** Never goes back, so that a test whose clock does needs another. */
  makeId: () => string;
}

export const startMs = 1_700_000_000_000;

/** Another one for every test of the suite around it, from its beginning to its end. */
export function freshStage(open: OpenSubject): StoreStage {
  const { stage, turn } = stageAt(startMs, open);
  beforeEach(async () => {
    stage.clock.ms = startMs;
    await turn.begin();
    await turn.enter();
  });
  afterEach(async () => turn.end());
  return stage;
}

/** One store for all tests of the suite around it, and another app for each. */
export function keptStage(open: OpenSubject, fromMs = startMs): StoreStage {
  const { stage, turn } = stageAt(fromMs, open);
  before(async () => turn.begin());
  beforeEach(async () => turn.enter());
  after(async () => turn.end());
  return stage;
}

interface Turn {
  begin: () => Promise<void>;
  enter: () => Promise<void>;
  end: () => Promise<void>;
}

function stageAt(fromMs: number, open: OpenSubject): { stage: StoreStage; turn: Turn } {
  const clock = { ms: fromMs };
  const nowMs = (): number => clock.ms;
  const opened: Partial<Opened> = {};
  const claims = (store: Store): void => {
    Object.assign(opened, { store, dispatcher: attachDispatcher(store) });
  };
  const stage: StoreStage = {
    clock,
    newId: () => given(opened.makeId)(),
    get subject() {
      return given(opened.subject);
    },
    get store() {
      return given(opened.store);
    },
    get dispatcher() {
      return given(opened.dispatcher);
    },
    get app() {
      return given(opened.app);
    },
    set app(app) {
      opened.app = app;
    },
    reopen: async () => claims(given(await stage.subject.reopen?.())),
  };
  const turn: Turn = {
    begin: async () => {
      const subject = await open({ nowMs });
      Object.assign(opened, { subject, makeId: idMaker({ ...realWorld(), nowMs }) });
      claims(subject.store);
    },
    enter: async () => {
      opened.app = await newApp(stage.store);
    },
    end: async () => opened.subject?.dispose(),
  };
  return { stage, turn };
}

function given<T>(value: T | undefined): T {
  assert(value !== undefined, 'no test runs, or nothing outlives the close');
  return value;
}
