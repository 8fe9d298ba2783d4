// The API of a print shop. It knows nothing of callback URLs: it only publishes what happens to its jobs.
import { randomUUID } from 'node:crypto';
import express, { type Express } from 'express';
import { createClient } from 'ringback/client';
import { requireKey, ringbackUrl } from './settings.ts';

interface Job {
  jobId: string;
  file: string;
  copies: number;
  printed: number;
}

const jobs = new Map<string, Job>();
const ringback = createClient({ url: ringbackUrl, key: requireKey() });

export const shop: Express = express();
shop.use(express.json());

shop.post('/jobs', (request, response) => {
  const { file, copies = 1 }: { file?: unknown; copies?: unknown } = request.body ?? {};
  if (typeof file !== 'string' || typeof copies !== 'number' || !(copies >= 1)) {
    response.status(400).json({ error: 'Expected {"file": "…", "copies": 1 or more}' });
    return;
  }
  const job = { jobId: `job_${randomUUID()}`, file, copies, printed: 0 };
  jobs.set(job.jobId, job);
  response.status(201).location(`/jobs/${job.jobId}`).json(job);
});

shop.get('/jobs/:jobId', (request, response) => {
  const job = jobs.get(request.params.jobId);
  if (job === undefined) response.status(404).json({ error: 'There is no such job' });
  else response.json(job);
});

shop.delete('/jobs/:jobId', (request, response) => {
  response.status(jobs.delete(request.params.jobId) ? 204 : 404).end();
});

/** The printer says that it has printed a copy. Called from inside the shop only. */
shop.post('/jobs/:jobId/copies', async (request, response) => {
  const job = jobs.get(request.params.jobId);
  if (job === undefined || job.printed >= job.copies) {
    response.status(409).json({ error: 'There is nothing to print' });
    return;
  }
  const printed = job.printed + 1;
  const event = printed === job.copies ? 'job.done' : 'job.copy';
  // Publish first. If that fails, the printer reports the copy again, and the same key makes no second event.
  const idempotencyKey = `${job.jobId}-${printed}`;
  const payload = { ...job, printed };
  await ringback.publish({ event, subject: job.jobId, payload }, { idempotencyKey });
  job.printed = printed;
  response.json(job);
});
