// Opens what every verb works with: the store, the sealing keys, the guard, and the upkeep of the
// store.
import type { Config } from '../config.ts';
import type { CheckedContracts } from '../contract/report/check-contracts.ts';
import { idMaker, withPrefix } from '../core/base/id.ts';
import type { App } from '../core/domain/app.ts';
import { createGuard } from '../egress/guard/guard.ts';
import { systemResolver } from '../egress/guard/resolve.ts';
import { ensureDefaultApp } from '../engine/access/apps.ts';
import { openRing } from '../engine/access/check-encryption-key.ts';
import { createQuotas } from '../engine/admission/quotas.ts';
import type { Context } from '../engine/context.ts';
import { createInvalidation, type Invalidation } from '../engine/deliver/start-delivering.ts';
import { finalCallbacks } from '../engine/targets/prepared-target.ts';
import { createJournal, type Journal } from '../engine/live/journal.ts';
import { createMeter, metered, type Meter } from '../engine/telemetry/meter.ts';
import { noUpkeep, startUpkeep } from '../engine/upkeep/start-upkeep.ts';
import { StatisticsWriter } from '../engine/upkeep/statistics-writer.ts';
import type { BatchFacts } from '../store/batch/batch-cycle.ts';
import { openStore } from '../store/open/open.ts';
import type { ExternalDeps } from './external-deps.ts';

export interface Opened {
  context: Context;
  invalidation: Invalidation;
  journal: Journal;
  meter: Meter;
  /** Number of batches that the store failed to write so far. */
  failures: () => number;
  /** Called when the store has a new notice to publish. */
  noticed: () => void;
  defaultApp: App;
  /** The first key, if this start created it: it can never be shown again. */
  firstKey: string | undefined;
  isChosenKeyDead: boolean;
}

export async function openContext(
  { config, contracts }: { config: Config; contracts: Pick<CheckedContracts, 'known'> },
  external: ExternalDeps,
  cleanup: AsyncDisposableStack,
): Promise<Opened> {
  const { world, log, onFatal, resolver, tracer } = external;
  const { database, encryptionKey } = config;
  const open = external.openStore ?? openStore;
  const meter = createMeter();
  let failures = 0;
  const onBatch = (batch: BatchFacts): void => {
    if (!batch.isDone) failures += 1;
    meter.batch(batch);
  };
  const store = await open({ ...database, world, onFatal, onBatch });
  cleanup.defer(async () => store.close());
  const ring = await openRing({ database, encryptionKey }, store, world);
  // By the store's clock, because retention checks an event by its id.
  const newId = idMaker({
    nowMs: () => store.nowMs(),
    randomBytes: (count) => world.randomBytes(count),
  });
  const { app, secret, isChosenKeyDead } = await ensureDefaultApp(
    { world, store, newId },
    config.apiKey,
  );
  const guard = createGuard({ policy: config.policy, resolver: resolver ?? systemResolver() });
  const journal = createJournal();
  const changes = metered(journal.changes, meter);
  // Also on nodes that only serve requests, since publishing creates deliveries.
  const onStatisticsError = (err: unknown): void =>
    log.warn({ err }, 'statistics not written, will retry');
  cleanup.use(new StatisticsWriter({ store, world, onError: onStatisticsError }));
  const ended = ({ appNo, id }: { appNo: number; id: string }, message: string): void => {
    changed(id, 'ended');
    changes.subscription(appNo, id);
    log.info({ subscription: withPrefix('sub', id) }, message);
  };
  const upkeep =
    config.role === 'api'
      ? noUpkeep
      : startUpkeep({
          store,
          world,
          newId,
          changes,
          retentionMs: config.retention,
          auditRetentionMs: config.auditRetention,
          finals: finalCallbacks(contracts.known),
          onFinal: (one) => ended(one, 'subscription ended with its final callback, which expired'),
          onRetained: (retained) => log.info(retained, 'retention'),
          onExpired: (one) => ended(one, 'subscription expired'),
          onReplayed: (done) => log.info(done, 'replay finished'),
          onError: (err, what) => log.warn({ err }, what),
        });
  cleanup.use(upkeep);
  const invalidation = createInvalidation({ store, world }, () => upkeep.ended());
  const { changed } = invalidation;
  const watch = {
    changed,
    changes,
    expires: (atMs: number) => upkeep.expires(atMs),
    replayWaits: () => upkeep.replayWaits(),
  };
  const quotas = createQuotas({ world, store, fallback: config.quotas });
  const context = { world, store, guard, newId, quotas, ring, tracer, defaultApp: app, ...watch };
  const first = { defaultApp: app, firstKey: secret, isChosenKeyDead };
  const noticed = (): void => upkeep.noticed();
  return { context, invalidation, noticed, journal, meter, failures: () => failures, ...first };
}
