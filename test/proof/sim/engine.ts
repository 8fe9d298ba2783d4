// One node of a simulation: the engine, wired as in src/service.ts and src/service/open-context.ts, on a given store,
// sender and world. Server, console and metrics are left out, because they do not affect deliveries.
import { join } from 'node:path';
import { loadContract } from '../../../src/contract/compile/load.ts';
import { idMaker } from '../../../src/core/base/id.ts';
import { limits } from '../../../src/core/limits/limits.ts';
import { noQuotas } from '../../../src/core/load/quotas.ts';
import type { World } from '../../../src/core/base/world.ts';
import { Deadlines } from '../../../src/egress/http/deadlines.ts';
import { createGuard } from '../../../src/egress/guard/guard.ts';
import { parseAllowTargets } from '../../../src/egress/guard/allow-list.ts';
import type { Sender } from '../../../src/egress/http/send.ts';
import { ensureDefaultApp } from '../../../src/engine/access/apps.ts';
import type { Context } from '../../../src/engine/context.ts';
import { Feed } from '../../../src/engine/live/feed.ts';
import { StatisticsWriter } from '../../../src/engine/upkeep/statistics-writer.ts';
import { withStoreTimeout } from '../../../src/engine/store-timeout.ts';
import { createJournal } from '../../../src/engine/live/journal.ts';
import { startLiveness, type Liveness } from '../../../src/engine/cluster/liveness.ts';
import { createQuotas } from '../../../src/engine/admission/quotas.ts';
import {
  createInvalidation,
  startDelivering,
} from '../../../src/engine/deliver/start-delivering.ts';
import { finalCallbacks } from '../../../src/engine/targets/prepared-target.ts';
import { startUpkeep } from '../../../src/engine/upkeep/start-upkeep.ts';
import type { Store } from '../../../src/store/port/store.ts';

export const contract = await loadContract(
  join(import.meta.dirname, '..', '..', '..', 'openapi.yaml'),
);

/** An API answers its operations. */
export const jobs = await loadContract(join(import.meta.dirname, 'jobs.yaml'), { owner: 'api' });

export interface EngineDeps {
  name: string;
  world: World;
  store: Store;
  sender: Sender;
  waitsMs: readonly number[];
  timeoutMs: number;
  onError: (error: unknown, what: string) => void;
}

export interface Engine {
  /** For requests: its store has a timeout. */
  context: Context;
  self: Liveness;
  inFlight: () => number;
  stop: () => Promise<void>;
}

export const ring = [new Uint8Array(32)] as const;
const retentionMs = 30 * 24 * 60 * 60 * 1000;
const allow = parseAllowTargets('loopback');
const guard = createGuard({
  policy: { allow: allow.kind === 'allow' ? allow.allow : [], requireHttps: false },
  resolver: { resolve: async () => ({ kind: 'missing' }) },
});

export async function startEngine(deps: EngineDeps): Promise<Engine> {
  const { name, world, store, sender, waitsMs, timeoutMs, onError } = deps;
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(async () => store.close());
  const newId = idMaker({
    nowMs: () => store.nowMs(),
    randomBytes: (count) => world.randomBytes(count),
  });
  const { app } = await ensureDefaultApp({ world, store, newId }, 'k'.repeat(40));
  const journal = createJournal();
  const { changes } = journal;
  cleanup.use(
    new StatisticsWriter({ store, world, onError: (error) => onError(error, 'figures') }),
  );
  const ended = ({ appNo, id }: { appNo: number; id: string }): void => {
    invalidation.changed(id, 'ended');
    changes.subscription(appNo, id);
  };
  const upkeep = startUpkeep({
    store,
    world,
    newId,
    changes,
    retentionMs,
    auditRetentionMs: retentionMs,
    finals: finalCallbacks([contract, jobs]),
    onRetained: () => undefined,
    onFinal: ended,
    onExpired: ended,
    onReplayed: () => undefined,
    onError,
  });
  cleanup.use(upkeep);
  const invalidation = createInvalidation({ store, world }, () => upkeep.ended());
  const told = {
    changed: invalidation.changed,
    changes,
    expires: (atMs: number) => upkeep.expires(atMs),
    replayWaits: () => upkeep.replayWaits(),
  };
  const quotas = createQuotas({ world, store, fallback: noQuotas });
  const context: Context = { world, store, guard, newId, quotas, ring, defaultApp: app, ...told };
  const self = await startLiveness({
    world,
    store,
    name,
    role: 'all',
    onRescued: () => changes.missed(),
    onError: (error) => onError(error, 'heartbeat'),
  });
  cleanup.use(self);
  const deadlines = new Deadlines(world);
  cleanup.defer(() => deadlines.close());
  const answering = withStoreTimeout(store, { deadlines, answerMs: limits.storeAnswerMs });
  const onFeedError = (error: unknown): void => onError(error, 'feed');
  cleanup.use(new Feed({ world, store: answering, journal, self, onError: onFeedError }));
  const delivering = startDelivering(context, {
    self,
    contracts: [contract, jobs],
    sender,
    invalidation,
    waitsMs,
    timeoutMs,
    onSettled: () => undefined,
    onDisabled: () => undefined,
    onNoticed: () => upkeep.noticed(),
    onError: (error) => onError(error, 'delivery'),
  });
  cleanup.use(delivering);
  const running = cleanup.move();
  return {
    context: { ...context, store: answering },
    self,
    inFlight: () => delivering.inFlight(),
    stop: async () => running.disposeAsync(),
  };
}
