// Sends a callback like Ringback: a signed POST with the headers of Standard Webhooks, on
// kept-alive connections. Shared by all contenders except Ringback.
import { strict as assert } from 'node:assert';
import { Pool } from 'undici';
import { idMaker } from '../../src/core/base/id.ts';
import { limits } from '../../src/core/limits/limits.ts';
import { realWorld } from '../../src/core/base/world.ts';
import { sign } from '../../src/egress/sign/sign.ts';

const secrets = [`whsec_${Buffer.alloc(32, 7).toString('base64')}`];

export interface Sent {
  id: string;
  event: string;
  payload: unknown;
}

export type Send = (sent: Sent) => Promise<void>;

const world = realWorld();
export const newId = idMaker(world);

/** The i-th port receives the event `e<i>`. Rejects unless it answers with 2xx. */
export function receiversOf(ports: readonly number[]): Send {
  const connections = limits.connectionsPerOriginMax;
  const pools = new Map(
    ports.map((port, i) => [`e${i}`, new Pool(`http://127.0.0.1:${port}`, { connections })]),
  );
  return async ({ id, event, payload }) => {
    const pool = pools.get(event);
    assert(pool !== undefined, `No receiver for "${event}"`);
    const body = Buffer.from(JSON.stringify(payload));
    const timestampS = Math.floor(world.nowMs() / 1_000);
    const answer = await pool.request({
      method: 'POST',
      path: '/',
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(timestampS),
        'webhook-signature': sign({ id, timestampS, payload: body, secrets }),
      },
      body,
    });
    await answer.body.dump();
    assert(answer.statusCode < 300, `Answered with ${answer.statusCode}`);
  };
}
