// Runs an attack while a well-behaved client uses the service: all of its requests must succeed. Afterwards the
// service must hold no more memory and descriptors than before.
import { setTimeout as wait } from 'node:timers/promises';
import { descriptors, peakMiB, residentMiB, type Attempt, type Target } from './target.ts';

/** Invariant I11: the service may keep no more than this after an attack. */
const driftMiBMax = 64;
/** Files of the store and the log that the service opens now and then. */
const descriptorsMore = 8;

/**
 * Runs the attack, and records failures of the other client and what the service still holds afterwards. The
 * first attack grows the heap to what such a load needs, like any other load. With two rounds, memory is therefore
 * compared after the first and the second attack: growth between the two is a leak.
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
    violations.push(`I11: after ${name} finished requests still count as in flight`);
  }
  const driftMiB = await driftOf(target, before.mib);
  if (driftMiB > driftMiBMax) {
    violations.push(`I11: after ${name} it holds ${driftMiB} MiB more than before`);
  }
  figures[`${name}: others' requests, of them failed`] = `${seen.count}, ${seen.failures.length}`;
  figures[`${name}: the slowest of them, ms`] = Math.round(seen.worstMs);
  figures[`${name}: memory kept, peak, MiB`] = `${driftMiB}, ${peakMiB(target)}`;
}

/** The first requests compile code and fill caches, which is not a leak. */
async function warmUp(target: Target): Promise<void> {
  if (warm.has(target)) return;
  warm.add(target);
  for (let i = 0; i < 30; i += 1) await useOnce(target);
}

const warm = new WeakSet<Target>();

async function driftOf(target: Target, beforeMiB: number): Promise<number> {
  let mib = 0;
  // The allocator returns pages to the system with a delay.
  await until(async () => {
    mib = await residentMiB(target);
    return mib - beforeMiB <= driftMiBMax;
  }, 10_000);
  return Math.max(mib - beforeMiB, 0);
}

/** Requests in flight, by the service's own metrics, which include the request for them. */
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

/** Some use a new connection: clients that connect during an attack must be served, too. */
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

/** On a busy machine the store may miss its deadline; the request is then repeated this often. */
const turnsMax = 3;

async function tried(target: Target, use: (typeof uses)[number]): Promise<string | undefined> {
  for (let turn = 1; ; turn += 1) {
    try {
      const { status, text } = await target.call(use);
      if (status === 200 || status === 202) return undefined;
      if (!text.includes('store_unavailable') || turn === turnsMax) return `got ${status} ${text}`;
    } catch (error) {
      const cause = error instanceof Error ? error.cause : undefined;
      return `got no response: ${String(error)} ${String(cause)}`;
    }
  }
}

/** Polls until `isSo` holds; false if it does not in time. The default allows for a busy machine. */
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
