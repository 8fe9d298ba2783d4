// Callbacks on pg-boss: a job per event, in the database before the answer, and workers that fetch
// a hundred at a time, send them in parallel and complete each. Uses its settings for throughput.
import { PgBoss } from 'pg-boss';
import { answerParent } from '../harness/child-process.ts';
import type { Start } from './contender.ts';
import type { Sent } from './receivers-of.ts';
import { receiversOf } from './receivers-of.ts';
import { listenForEvents } from './server.ts';

const queue = 'callbacks';

answerParent(async ({ ports, url }: Start) => {
  const send = receiversOf(ports);
  const boss = new PgBoss({ connectionString: url, max: 20 });
  boss.on('error', (error: unknown) => console.error(error));
  await boss.start();
  await boss.createQueue(queue);
  const options = {
    batchSize: 100,
    localConcurrency: 4,
    burstWhenBatchFull: true,
    pollingIntervalSeconds: 0.5,
    perJobResults: true,
  } as const;
  await boss.work<Sent, unknown, typeof options>(queue, options, async (jobs) =>
    Promise.all(
      jobs.map(async ({ id, data }) =>
        send(data).then(
          () => ({ id, status: 'completed' as const }),
          () => ({ id, status: 'failed' as const }),
        ),
      ),
    ),
  );
  const port = await listenForEvents(async (sent) => void (await boss.send(queue, sent)));
  return { port };
});
