// All receivers recover from an outage with two hundred thousand deliveries due.
import { startRingback, subscribed } from '../contenders/ringback.ts';
import { inBatches, perBatch, setAll } from '../contenders/ringback.ts';
import { spreadOf } from '../harness/round-statistics.ts';
import type { Scenario } from '../harness/outcome.ts';
import { machineMs } from '../harness/machine-clock.ts';
import { openStage } from '../harness/measure.ts';
import { latencyOfOthers } from '../harness/latency-during-load.ts';
import { peakRssMiB } from '../harness/cpu-and-memory.ts';

const receivers = 10;
const deliveries = 200_000;
/** How long all receivers answer with 503. */
const outageMs = 20_000;
const others = { requests: 1_000, connections: 32, perSecond: 200 };

export const retryStorm: Scenario = {
  name: 'retry-storm',
  title: 'Retry storm',
  about:
    `${deliveries} deliveries are due while all ${receivers} receivers answer 503 for ${outageMs / 1_000} ` +
    's; then all receivers recover at once. Measured are the time until everything has arrived, and the ' +
    'latency of publishes meanwhile.',
  run: async () => {
    await using made = new AsyncDisposableStack();
    const stage = made.use(await openStage(receivers));
    const started = made.use(await startRingback({ name: 'Ringback' }));
    const ringback = await subscribed(started, stage.ports);
    await setAll(ringback, 'paused');
    const { publish } = inBatches(ringback);
    await stage.load({
      ...publish,
      requests: deliveries / perBatch,
      connections: 8,
      perSecond: undefined,
    });
    await stage.expect(deliveries);
    await stage.behave(stage.ports.map(() => 'answers_503'));
    await setAll(ringback, 'active');
    await new Promise((resolve) => void setTimeout(resolve, outageMs));
    await stage.behave([]);
    const healedMs = machineMs();
    const p99 = await latencyOfOthers(stage, ringback, others);
    const first = await stage.until(1);
    const { lastMs } = await stage.arrived();
    const tookS = (lastMs - healedMs) / 1_000;
    return {
      rows: [
        {
          name: 'all receivers come back',
          cells: [
            { column: 'until all have arrived, s', value: spreadOf([tookS]) },
            { column: 'deliveries/s', value: spreadOf([deliveries / tookS]) },
            { column: 'publish p99 ms', value: spreadOf([p99]) },
            { column: 'some arrived at the first look', value: spreadOf([first.came]) },
          ],
        },
      ],
      checks: [
        {
          what: 'memory at most, MiB',
          value: spreadOf([peakRssMiB(ringback.pid)]),
          bound: { atMost: 400 },
        },
      ],
    };
  },
};
