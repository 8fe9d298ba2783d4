// The environment of the store contract suites: a store, its clock, an app and a dispatcher. A fresh one for every test
// where claims would otherwise see the lanes of earlier tests.
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
  /** Ids by the clock of the stage. */
  readonly newId: () => string;
  readonly subject: Subject;
  readonly store: Store;
  readonly dispatcher: TestDispatcher;
  /** A test may replace it. */
  app: App;
  /** If data survives a close: opens another store, with a new dispatcher. */
  reopen: () => Promise<void>;
}

interface Opened extends Pick<StoreStage, 'subject' | 'store' | 'dispatcher' | 'app'> {
  /** Its ids never decrease, so a test whose clock is set back needs a new one. */
  makeId: () => string;
}

export const startMs = 1_700_000_000_000;

/** A new store for every test of the surrounding suite. */
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

/** One store for all tests of the surrounding suite, with a new app for each. */
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
  assert(value !== undefined, 'no test is running, or data does not survive a close');
  return value;
}
