// Kills the gateway on SQLite and the API while a job is started: the gateway before and after each statement that
// writes, both at each step of the API.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { serve, type Env } from '../../cli/ringback-process.ts';
import { changedSource, type SourceChange } from '../controls/change-source.ts';
import { withScratch } from '../crash/points.ts';
import { key } from '../faults/node.ts';
import type { Finding } from '../finding.ts';
import { steps, type Step } from './api.ts';
import { setExchangeStage, type ExchangeStage } from './stage.ts';

export type Changes = readonly SourceChange[];
const preload = fileURLToPath(new URL('../crash/preload.ts', import.meta.url));

/** Kills one of the two when the API has come to a step of a job that it accepts or refuses. */
export interface Kill {
  victim: 'gateway' | 'API';
  step: Step;
  isAcceptable: boolean;
}

const allKills: readonly Kill[] = (['gateway', 'API'] as const).flatMap((victim) =>
  steps.flatMap((step) => [true, false].map((isAcceptable) => ({ victim, step, isAcceptable }))),
);

/** Kills the gateway or the API at steps of the API: by default at all. */
export async function killAtSteps(kills = allKills, changes?: Changes): Promise<Finding> {
  return onSqlite('exchanges: killed at each step of the API', changes, async (stage) => {
    const figures = { 'gateway killed': 0, 'API killed': 0 };
    for (const { victim, step, isAcceptable } of kills) {
      let isKilled = false;
      stage.api.onStep = async (reached) => {
        if (reached !== step || isKilled) return;
        isKilled = true;
        await (victim === 'gateway' ? stage.kill() : stage.api.kill());
      };
      await stage.send(isAcceptable);
      await stage.api.idle();
      if (isKilled) figures[`${victim} killed`] += 1;
      else stage.violations.push(`void: the ${victim} was not killed when the job was ${step}`);
    }
    return figures;
  });
}

export interface StatementsOptions {
  isAcceptable: boolean;
  /** Kills at every n-th statement only. */
  every?: number;
  sides?: readonly ('before' | 'after')[];
}

/** More statements than an exchange has. */
const statementsMax = 100;
/** The subscription is written before the API gets the request, and once more with its answer. */
const killsMin = 4;

/** Kills the gateway before and after each statement that writes, from the request to its answer. */
export async function killAtStatements(options: StatementsOptions): Promise<Finding> {
  const { isAcceptable, every = 1, sides = ['before', 'after'] } = options;
  const answer = isAcceptable ? 'accepted' : 'refused';
  const part = `exchanges: gateway killed at each statement, jobs ${answer}`;
  return onSqlite(part, [], async (stage) => {
    const figures: Record<string, number> = {};
    for (const side of sides) {
      let killed = 0;
      for (let at = 1; at <= statementsMax; at += every) {
        const from = join(stage.scratch, `${side} ${at}`);
        await stage.gateway({
          NODE_OPTIONS: `--import=${preload}`,
          CRASH_AT: `${at}`,
          CRASH_SIDE: side,
          CRASH_FROM: from,
        });
        writeFileSync(from, '');
        if ((await stage.send(isAcceptable)) !== undefined) {
          rmSync(from); // It lives on.
          break;
        }
        await stage.kill();
        killed += 1;
      }
      figures[`killed ${side} a statement`] = killed;
      if (killed * every < killsMin) stage.violations.push(`void: only ${killed} were killed`);
    }
    return figures;
  });
}

async function onSqlite(
  part: string,
  changes: Changes = [],
  body: (stage: ExchangeStage) => Promise<Record<string, number>>,
): Promise<Finding> {
  return withScratch(async (scratch) => {
    const settings: Env = {
      RINGBACK_DATA: join(scratch, 'data'),
      RINGBACK_API_KEY: key,
      RINGBACK_LOG: 'silent',
      RINGBACK_STORE_TIMEOUT: '60s', // On a busy machine no answer may leave before its subscription is confirmed.
      ...(changes.length > 0 && changedSource(changes)),
    };
    const start = async (more: Env): Promise<Awaited<ReturnType<typeof serve>>> =>
      serve({ ...settings, ...more });
    await using stage = await setExchangeStage({ scratch, start });
    const figures = await body(stage);
    const { missing, ...verdict } = await stage.judge();
    return { part, figures: { ...figures, ...verdict, missing }, violations: stage.violations };
  });
}
