// One app requests 200 lists at once. Reads of another app must be answered ahead of that backlog, and never
// refused.
import { tenantsOf } from '../../api/tenants.ts';
import { limits } from '../../../src/core/limits/limits.ts';
import type { Attempt } from './target.ts';

export interface Crowd {
  /** Lists that one app requests at once. */
  reads: number;
  /** Batches of deliveries that each of these lists must scan. */
  batches: number;
  /** Lists that the other app requests, one after the other. */
  others: number;
}

export const crowdSmall: Crowd = { reads: 60, batches: 8, others: 1 };
export const crowdFull: Crowd = { reads: 200, batches: 20, others: 5 };

export async function crowdReads(
  { target, figures, violations }: Attempt,
  { reads, batches, others }: Crowd,
): Promise<void> {
  const { newApp, make, ok } = tenantsOf(target.call);
  const [crowd, other] = [await newApp('crowd'), await newApp('other')];
  await fill(crowd.key, batches, { make: async () => make('subscription', crowd), ok });
  await make('delivery', other);
  // The filter matches nothing, so each list scans as many rows as it is allowed to.
  const path = '/deliveries?state=pending&event=other';
  let answered = 0;
  const backlog = Array.from({ length: reads }, async () => {
    const { status } = await target.call({ path, key: crowd.key });
    if (status === 200) answered += 1; // The others ran into their deadline.
  });
  await Promise.race(backlog);
  let passed = 0;
  for (let n = 0; n < others; n += 1) {
    const before = answered;
    const { status } = await target.call({ path: '/deliveries', key: other.key });
    passed = Math.max(passed, answered - before);
    if (status !== 200) {
      violations.push(`fairness: a list of another app was answered with ${status}`);
    }
  }
  await Promise.all(backlog);
  // Both apps take turns, so a few of the crowd are answered meanwhile; a shared queue would answer most of them first.
  if (passed > reads / 3) {
    violations.push(
      `fairness: a list of another app waited for ${passed} of ${reads} of the crowd`,
    );
  }
  figures['lists of one app, those that another app waited for'] = `${reads}, ${passed}`;
  figures['lists of the crowd that were answered'] = answered;
}

type Tenants = Pick<ReturnType<typeof tenantsOf>, 'ok'> & { make: () => Promise<string> };

async function fill(key: string, batches: number, { make, ok }: Tenants): Promise<void> {
  const id = await make();
  await ok({ method: 'PATCH', path: `/subscriptions/${id}`, key, body: { state: 'paused' } });
  const event = { event: 'e', payload: { message: 'm' } };
  const events = Array.from({ length: limits.batchEventsMax }, () => event);
  for (let n = 0; n < batches; n += 1) {
    await ok({ method: 'POST', path: '/events/batch', key, body: { events } });
  }
}
