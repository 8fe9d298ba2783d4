// PostgreSQL fails while a job is started: the server is killed at each step of the API, and the gateway's connection is
// cut at each message of both transactions.
import { ownDatabase, startNode } from '../../e2e/cluster.ts';
import { freshDatabase } from '../../postgres/database.ts';
import { startProxy } from '../../postgres/proxy.ts';
import { withScratch } from '../crash/points.ts';
import { brokenMs, key } from '../faults/node.ts';
import { changedSource, type SourceChange } from '../controls/change-source.ts';
import type { Finding } from '../finding.ts';
import { cutEachMessage } from '../postgres/cuts.ts';
import { steps, type Step } from './api.ts';
import { setExchangeStage, type ExchangeStage } from './stage.ts';

const storeTimeoutMs = 2_000;
const patientMs = 30_000;

export interface ServerKills {
  at?: readonly Step[];
  changes?: readonly SourceChange[];
}

/** Kills the server at steps of the API, and starts it at once, or only after the answer. */
export async function killServerAtSteps(options: ServerKills = {}): Promise<Finding> {
  const { at = steps, changes = [] } = options;
  const { postgres, url, ...database } = await ownDatabase();
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(async () => database[Symbol.asyncDispose]());
  return await onPostgres(
    'exchanges: PostgreSQL killed at each step of the API',
    { url, changes },
    async (stage) => {
      let kills = 0;
      for (const step of at) {
        for (const isAcceptable of [true, false]) {
          for (const isBackAtOnce of [true, false]) {
            let isKilled = false;
            stage.api.onStep = async (reached) => {
              if (reached !== step || isKilled) return;
              isKilled = true;
              await postgres.kill();
              if (isBackAtOnce) await postgres.start();
            };
            await stage.insist(isAcceptable);
            await stage.api.idle();
            if (isKilled && !isBackAtOnce) await postgres.start();
            if (isKilled) kills += 1;
          }
        }
      }
      return { kills };
    },
  );
}

/** Cuts the gateway's connection at each message, or at some. */
export async function cutExchanges({
  step,
  say,
}: {
  step: number;
  say: (line: string) => void;
}): Promise<Finding> {
  await using database = await freshDatabase();
  await using proxy = await startProxy(database.url);
  return await onPostgres(
    'exchanges: connection to PostgreSQL cut',
    { url: proxy.url },
    async (stage) => {
      let jobs = 0;
      const act = async (): Promise<void> => {
        jobs += 1;
        await stage.insist(jobs % refusedEvery > 0);
      };
      const { figures, violations, slowestMs } = await cutEachMessage(proxy, act, { step, say });
      stage.violations.push(...violations);
      return { ...figures, 'slowest, ms': slowestMs };
    },
  );
}

const refusedEvery = 5;

async function onPostgres(
  part: string,
  { url, changes = [] }: { url: string; changes?: readonly SourceChange[] },
  body: (stage: ExchangeStage) => Promise<Record<string, number>>,
): Promise<Finding> {
  return withScratch(async (scratch) => {
    const settings = {
      RINGBACK_API_KEY: key,
      RINGBACK_STORE_TIMEOUT: `${storeTimeoutMs}ms`,
      RINGBACK_LOG: 'silent',
      ...(changes.length > 0 && changedSource(changes)),
    };
    await using stage = await setExchangeStage({
      scratch,
      confirmWithinMs: changes.length > 0 ? brokenMs : patientMs,
      start: async (more) => startNode({ url, name: 'gateway', env: { ...settings, ...more } }),
    });
    const figures = await body(stage);
    const { missing, ...verdict } = await stage.judge();
    return { part, figures: { ...figures, ...verdict, missing }, violations: stage.violations };
  });
}
