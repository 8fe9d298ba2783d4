// While somebody attacks, somebody else uses the service as one should: everything that they ask must
// succeed. Afterwards the service holds no more than before.
import { setTimeout as wait } from 'node:timers/promises';
import { descriptors, peakMiB, residentMiB, type Attempt, type Target } from './target.ts';

/** Invariant I11: the service may keep no more than this after an attack. */
const driftMiBMax = 64;
/** Ours: files of the store and of the log that are opened now and then. */
const descriptorsMore = 8;

/**
 * Runs the attack; says what the others went through, and what is left of it. The first time the service
 * grows to what such a load needs, as it would under any other: so in full it is attacked twice, and what it
 * holds in excess of that after the second time would be more after the next.
 */
export async function besiege(
  { target, figures, violations }: Attempt,
  { name, rounds }: { name: string; rounds: 1 | 2 },
  siege: () => Promise<void>,
): Promise<void> {
  await warmUp(target);
  const before = { fds: descriptors(target), mib: await residentMiB(target) };
  const others = useWell(target);
  await siege();
  if (rounds === 2) {
    before.mib = await residentMiB(target);
    await siege();
  }
  const seen = await others.stop();
  violations.push(...seen.failures.slice(0, 3).map((one) => `I12: during ${name}: ${one}`));
  const isFree = await until(() => descriptors(target) <= before.fds + descriptorsMore);
  if (!isFree) {
    violations.push(
      `I11: after ${name} it holds ${descriptors(target)} descriptors, before ${before.fds}`,
    );
  }
  if (!(await until(async () => (await inFlight(target)) <= 1))) {
    violations.push(`I11: after ${name} requests count as under way that are over`);
  }
  const driftMiB = await driftOf(target, before.mib);
  if (driftMiB > driftMiBMax) {
    violations.push(`I11: after ${name} it holds ${driftMiB} MiB more than before`);
  }
  figures[`${name}: others' requests, of them failed`] = `${seen.count}, ${seen.failures.length}`;
  figures[`${name}: the slowest of them, ms`] = Math.round(seen.worstMs);
  figures[`${name}: memory kept, peak, MiB`] = `${driftMiB}, ${peakMiB(target)}`;
}

/** The first requests compile code and fill caches, which is no leak. */
async function warmUp(target: Target): Promise<void> {
  if (warm.has(target)) return;
  warm.add(target);
  for (let i = 0; i < 30; i += 1) await useOnce(target);
}

const warm = new WeakSet<Target>();

async function driftOf(target: Target, beforeMiB: number): Promise<number> {
  let mib = 0;
  // Pages go back to the system a moment later.
  await until(async () => {
    mib = await residentMiB(target);
    return mib - beforeMiB <= driftMiBMax;
  }, 10_000);
  return Math.max(mib - beforeMiB, 0);
}

/** Requests that hold a place, but for the one that asks. */
async function inFlight({ call }: Target): Promise<number> {
  const { text } = await call({ path: '/metrics' });
  const counts = text.matchAll(/^ringback_admission_under_way\{[^}]*\} (\d+)$/gm);
  return Array.from(counts, ([, count]) => Number(count)).reduce((sum, one) => sum + one, 0);
}

interface Seen {
  count: number;
  worstMs: number;
  failures: readonly string[];
}

function useWell(target: Target): { stop: () => Promise<Seen> } {
  const over = new AbortController();
  const failures: string[] = [];
  let count = 0;
  let worstMs = 0;
  const go = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const beganMs = performance.now();
      for (const failure of await useOnce(target)) failures.push(failure);
      count += uses.length;
      worstMs = Math.max(worstMs, performance.now() - beganMs);
      await wait(100);
    }
  };
  const gone = go();
  return {
    stop: async () => {
      over.abort();
      await gone;
      return { count, worstMs, failures };
    },
  };
}

/** Over connections of its own, new ones among them: whoever comes during an attack is served, too. */
const uses = [
  { method: 'POST', path: '/events', body: { event: 'good.one', payload: { message: 'm' } } },
  { path: '/subscriptions?limit=5' },
  { path: '/readyz', headers: { connection: 'close' } },
] as const;

async function useOnce(target: Target): Promise<string[]> {
  const failures: string[] = [];
  for (const use of uses) {
    const what = `${'method' in use ? use.method : 'GET'} ${use.path}`;
    const failure = await tried(target, use);
    if (failure !== undefined) failures.push(`${what} ${failure}`);
  }
  return failures;
}

/** A busy machine may be too slow for the deadline of the store: then it is asked again. */
const turnsMax = 3;

async function tried(target: Target, use: (typeof uses)[number]): Promise<string | undefined> {
  for (let turn = 1; ; turn += 1) {
    try {
      const { status, text } = await target.call(use);
      if (status === 200 || status === 202) return undefined;
      if (!text.includes('store_unavailable') || turn === turnsMax) return `got ${status} ${text}`;
    } catch (error) {
      const cause = error instanceof Error ? error.cause : undefined;
      return `got no answer: ${String(error)} ${String(cause)}`;
    }
  }
}

/** Whether it became so; asked again and again, with patience for a busy machine. */
export async function until(
  isSo: () => boolean | Promise<boolean>,
  patienceMs = 60_000,
): Promise<boolean> {
  const lastMs = performance.now() + patienceMs;
  for (;;) {
    if (await isSo()) return true;
    if (performance.now() > lastMs) return false;
    await wait(50);
  }
}
