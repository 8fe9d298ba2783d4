// What an idle service costs, and how fast it starts.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRingback, subscribed } from '../contenders/ringback.ts';
import { spreadOf } from '../harness/round-statistics.ts';
import type { Scenario } from '../harness/outcome.ts';
import { machineMs } from '../harness/machine-clock.ts';
import { measure, openStage } from '../harness/measure.ts';
import { rssMiB, startedCpu } from '../harness/cpu-and-memory.ts';

const receivers = 10;
const sending = { requests: 5_000, connections: 16 };
const restMs = 10_000;

export const idle: Scenario = {
  name: 'idle',
  title: 'Idle cost',
  about:
    'A service on SQLite that has delivered some thousand events is stopped and started again on its data. ' +
    `Measured are the time from start to ready, and the resources used in ${restMs / 1_000} seconds without ` +
    'traffic.',
  run: async ({ rounds }) => {
    await using made = new AsyncDisposableStack();
    const stage = made.use(await openStage(receivers));
    const dataDir = await mkdtemp(join(tmpdir(), 'ringback-bench-idle-'));
    made.defer(async () => rm(dataDir, { recursive: true, force: true }));
    const first = await subscribed(await startRingback({ name: 'first', dataDir }), stage.ports);
    await measure(stage, first, sending);
    await first.kill('SIGTERM');
    const [startMs, cores, resident]: [number[], number[], number[]] = [[], [], []];
    for (let round = 0; round <= rounds; round += 1) {
      const beganMs = machineMs();
      const ringback = await startRingback({ name: 'again', dataDir });
      const readyMs = machineMs() - beganMs;
      await rest(restMs / 2); // Excludes what a start leaves behind.
      const cpu = startedCpu(ringback.pids);
      await rest(restMs);
      if (round > 0) {
        startMs.push(readyMs);
        cores.push(cpu.usedUs() / (restMs * 10));
        resident.push(rssMiB(ringback.pid));
      }
      await ringback.kill('SIGTERM');
    }
    return {
      rows: [],
      checks: [
        { what: 'start to ready, ms', value: spreadOf(startMs), bound: { atMost: 500 } },
        { what: 'of a core, %', value: spreadOf(cores), bound: { atMost: 1 } },
        { what: 'resident memory, MiB', value: spreadOf(resident), bound: { atMost: 150 } },
      ],
    };
  },
};

async function rest(ms: number): Promise<void> {
  await new Promise((resolve) => void setTimeout(resolve, ms));
}
