// A whole service on an in-memory database that the test can access directly, to write URLs that no request could, and
// to count attempts.
import type { DatabaseSync } from 'node:sqlite';
import { storeOver } from '../../../src/store/open/open.ts';
import { adapterOn, inProcess } from '../../../src/store/sqlite/batch/adapter.ts';
import { start, type Call, type StartOptions, type Started } from '../../api/harness.ts';
import { until } from '../../e2e/stage.ts';

/** Only public addresses, and in practice one attempt per delivery. */
export const closed = { RINGBACK_ALLOW_TARGETS: 'none', RINGBACK_RETRY: '1h' };

export async function startOn(db: DatabaseSync, options: StartOptions): Promise<Started> {
  return start({
    ...options,
    openStore: async ({ world, onFatal, onBatch }) =>
      storeOver(inProcess(adapterOn(db), { onFatal }), world, { onBatch }),
  });
}

const callsAtOnce = 16;

/** Runs `act` for all, with some concurrency so that neither side idles. */
export async function forAll<T>(
  list: readonly T[],
  act: (one: T, index: number) => Promise<void>,
): Promise<void> {
  const rest = list.entries();
  const work = async (): Promise<void> => {
    for (const [index, one] of rest) await act(one, index);
  };
  await Promise.all(Array.from({ length: callsAtOnce }, work));
}

export function subscribeBody(callbackUrl: string): Call {
  return { method: 'POST', path: '/subscribe', body: { callbackUrl } };
}

/** Waits for that many recorded attempts; returns their numbers by outcome. */
export async function attemptsOf(db: DatabaseSync, count: number): Promise<Record<string, number>> {
  const select = db.prepare(
    "select coalesce(error, 'delivered') as how, count(*) as count from attempt group by 1",
  );
  const rows = await until(
    async () => select.all() as { how: string; count: number }[],
    (found) => sumOf(found) >= count,
  );
  return Object.fromEntries(rows.map(({ how, count: some }) => [how, some]));
}

/** Waits until no delivery is pending or in flight. */
export async function allEnded(db: DatabaseSync): Promise<void> {
  const select = db.prepare('select count(*) as count from delivery_live');
  await until(
    async () => select.get()?.['count'],
    (count) => count === 0,
  );
}

function sumOf(rows: readonly { count: number }[]): number {
  return rows.reduce((sum, { count }) => sum + count, 0);
}
