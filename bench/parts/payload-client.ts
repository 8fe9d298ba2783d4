// Publishes over HTTP from a thread of its own, so that its cost is not counted as the service's.
import { parentPort } from 'node:worker_threads';
import { Pool } from 'undici';

export interface Order {
  url: string;
  key: string;
  bodies: readonly string[];
  count: number;
  callers: number;
}

parentPort?.on('message', (order: Order) => {
  void publishAll(order).then(
    () => parentPort?.postMessage('done'),
    (error: unknown) => parentPort?.postMessage(String(error)),
  );
});

/** Each caller publishes again as soon as it is answered. */
async function publishAll({ url, key, bodies, count, callers }: Order): Promise<void> {
  const pool = new Pool(url, { connections: callers });
  const headers = { 'content-type': 'application/json', 'x-api-key': key };
  let left = count;
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (left > 0) {
        left -= 1;
        const body = bodies[left % bodies.length] ?? '';
        const answer = await pool.request({ method: 'POST', path: '/events', headers, body });
        const text = await answer.body.text();
        if (answer.statusCode !== 202) throw new Error(`${answer.statusCode} ${text}`);
      }
    }),
  );
  await pool.close();
}
