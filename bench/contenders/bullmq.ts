// Callbacks on BullMQ: a job per event, in Redis before the answer, and a worker with a concurrency
// of a hundred. Completed jobs are removed, so there is no log of attempts.
import { Queue, Worker } from 'bullmq';
import { answerParent } from '../harness/child-process.ts';
import type { Start } from './contender.ts';
import type { Sent } from './receivers-of.ts';
import { receiversOf } from './receivers-of.ts';
import { listenForEvents } from './server.ts';

const name = 'callbacks';

answerParent(async ({ ports, url }: Start) => {
  const send = receiversOf(ports);
  const connection = { url, maxRetriesPerRequest: null };
  const queue = new Queue<Sent>(name, { connection });
  const worker = new Worker<Sent>(name, async ({ data }) => send(data), {
    connection,
    concurrency: 100,
  });
  queue.on('error', (error) => console.error(error));
  worker.on('error', (error) => console.error(error));
  const options = {
    removeOnComplete: true,
    attempts: 12,
    backoff: { type: 'exponential', delay: 5_000 },
  };
  const port = await listenForEvents(
    async (sent) => void (await queue.add('event', sent, options)),
  );
  return { port };
});
