// What is done while the connection is cut, and what must hold afterwards, path by path.
import { setTimeout as wait } from 'node:timers/promises';
import { findPending } from '../../e2e/chaos-oracle.ts';
import { nowMs } from '../../e2e/event-loop-lag.ts';
import { until } from '../../e2e/stage.ts';
import type { Role } from '../../e2e/cluster.ts';
import type { CutStage } from './cut-stage.ts';

interface CutPath {
  /** What the node does that is cut off. */
  cutRole: Role;
  /** Gives what is done again and again, cut or not. */
  prepare: (stage: CutStage) => Promise<() => Promise<void>>;
  /** What was wrong in the end. */
  judge: (stage: CutStage) => Promise<string[]>;
}

export type PathName = 'publish' | 'subscribe' | 'unsubscribe' | 'claim and settle';

export const cutPaths: Readonly<Record<PathName, CutPath>> = {
  publish: {
    cutRole: 'api',
    prepare: async (stage) => {
      await subscribeAt(stage, stage.receiver.url);
      return async () => void (await stage.publish(stage.cut));
    },
    judge: async (stage) => {
      await judgeEvents(stage);
      const again = cameAgain(stage);
      // Nothing happened to the node that delivers.
      if (again > 0) stage.violations.push(`I5: ${again} callbacks came again`);
      return stage.violations;
    },
  },
  subscribe: {
    cutRole: 'api',
    prepare: async (stage) => {
      let number = 0;
      stage.figures['subscriptions'] = 0;
      return async () => {
        number += 1;
        const id = await subscribeAt(stage, `${stage.receiver.url}/${number}`, stage.cut);
        stage.figures['subscriptions'] = number;
        // What was answered hears what is published from then on, at any node.
        const { deliveries } = await stage.publish(stage.safe);
        if (deliveries !== 1)
          stage.violations.push(`I1: ${id} was answered, heard by ${deliveries}`);
        await stage.insist(stage.safe, unsubscribing(id), 200);
      };
    },
    judge: async (stage) => {
      await judgeEvents(stage, { orElse: 'cancelled' });
      const rows = await stage.database.query('select state from ringback.subscription');
      const made = stage.figures['subscriptions'] ?? 0;
      if (rows.length !== made)
        stage.violations.push(`I13: ${made} asked for, ${rows.length} made`);
      const open = rows.filter(({ state }) => state !== 'ended').length;
      if (open > 0) stage.violations.push(`I13: ${open} were made that nobody knows of`);
      return stage.violations;
    },
  },
  unsubscribe: {
    cutRole: 'api',
    prepare: async (stage) => {
      const endedMs = new Map<string, number>();
      ends.set(stage, endedMs);
      let number = 0;
      return async () => {
        number += 1;
        // Never satisfied: attempts go on until it is over.
        const id = await subscribeAt(stage, `${stage.receiver.url}/never/${number}`);
        await stage.publish(stage.safe);
        await until(
          async () => Promise.resolve(stage.came.some(({ subscription }) => subscription === id)),
          (isHere) => isHere,
        );
        await stage.insist(stage.cut, unsubscribing(id), 200);
        endedMs.set(id, nowMs());
        const { deliveries } = await stage.publish(stage.safe);
        if (deliveries !== 0) stage.violations.push(`I8: ${id} has ended, and hears an event`);
      };
    },
    judge: async (stage) => {
      await wait(obeyMs + 500);
      await judgeEvents(stage, { orElse: 'cancelled' });
      for (const { subscription, atMs } of stage.came) {
        const afterMs = atMs - (ends.get(stage)?.get(subscription) ?? Infinity);
        stage.figures['latest attempt after the answer, ms'] = Math.max(
          stage.figures['latest attempt after the answer, ms'] ?? 0,
          afterMs,
        );
        if (afterMs > obeyMs)
          stage.violations.push(`I8: an attempt ${afterMs} ms after the answer`);
      }
      const rows = await stage.database.query('select state from ringback.subscription');
      const open = rows.filter(({ state }) => state !== 'ended').length;
      if (open > 0) stage.violations.push(`I8: ${open} were answered, and have not ended`);
      return stage.violations;
    },
  },
  'claim and settle': {
    cutRole: 'worker',
    prepare: async (stage) => {
      await subscribeAt(stage, stage.receiver.url);
      return async () => {
        await stage.publish(stage.safe);
        await ended(stage);
      };
    },
    judge: async (stage) => {
      await judgeEvents(stage);
      stage.figures['callbacks that came again'] = cameAgain(stage);
      return stage.violations;
    },
  },
};

const ends = new WeakMap<CutStage, Map<string, number>>();

/** After the answer at one node, the other one may start attempts for so long. */
const obeyMs = 1_000;

function unsubscribing(id: string): { method: string; path: string } {
  return { method: 'POST', path: `/unsubscribe?Id=${id}` };
}

export async function subscribeAt(
  stage: CutStage,
  url: string,
  node = stage.safe,
): Promise<string> {
  const call = { method: 'POST', path: '/subscribe', body: { callbackUrl: url } };
  const { json } = await stage.insist(node, call, 201);
  return String(json['subscriberId']);
}

async function ended({ database }: CutStage): Promise<void> {
  await until(
    async () => findPending(database),
    ({ count }) => count === 0,
  );
}

export interface JudgeOptions {
  /** Who unsubscribed need not have heard it. */
  orElse?: 'cancelled';
  /** How long all may take to end. */
  drainMs?: number;
}

/** A lease and its rescue. */
const drainMostMs = 90_000;

/** Each number is one event, it has come, and it has ended. */
export async function judgeEvents(stage: CutStage, options: JudgeOptions = {}): Promise<void> {
  const { database, accepted, came, violations } = stage;
  const { orElse, drainMs = drainMostMs } = options;
  const inTime = await Promise.race([
    ended(stage).then(() => true),
    wait(drainMs, false, { ref: false }),
  ]);
  if (!inTime) {
    const { count, some } = await findPending(database);
    violations.push(`I3: ${count} deliveries never ended: ${JSON.stringify(some)}`);
  }
  const rows = await database.query('select id from ringback.event');
  const kept = new Set(rows.map((row) => `evt_${String(row['id'])}`));
  const lost = [...accepted.values()].filter((id) => !kept.has(id));
  stage.lost = lost.length;
  for (const id of lost) violations.push(`I1: ${id} was answered and is lost`);
  if (kept.size + lost.length > accepted.size) {
    violations.push(`I13: ${accepted.size} numbers became ${kept.size + lost.length} events`);
  }
  if (orElse === 'cancelled') return;
  const delivered = new Set(came.map(({ eventId }) => eventId));
  for (const id of kept) if (!delivered.has(id)) violations.push(`I3: ${id} never came`);
}

export function cameAgain({ came }: CutStage): number {
  return came.length - new Set(came.map(({ eventId }) => eventId)).size;
}
