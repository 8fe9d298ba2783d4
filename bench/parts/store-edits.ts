// What group commit is worth: subscribes per second through the same thread, in batches and in one
// transaction each, in turns within one run. Prints medians and their ratio. Run: node
// bench/parts/store-edits.ts
import { strict as assert } from 'node:assert';
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { idMaker } from '../../src/core/base/id.ts';
import { limits } from '../../src/core/limits/limits.ts';
import { sendEachTurn } from '../../src/core/load/batch-pacer.ts';
import { realWorld } from '../../src/core/base/world.ts';
import type { Batcher } from '../../src/store/batch/batcher.ts';
import { createBatcher } from '../../src/store/batch/batcher.ts';
import { startThreads } from '../../src/store/sqlite/thread/thread.ts';

const rounds = 7;
const editsPerRound = 2_000;
const callers = 512;

const world = realWorld();
const newId = idMaker(world);
const dataDir = await mkdtemp(join(tmpdir(), 'ringback-bench-'));
const transport = await startThreads().open({
  path: join(dataDir, 'ringback.db'),
  migrationsDir: fileURLToPath(new URL('../../migrations/sqlite', import.meta.url)),
  nowMs: world.nowMs(),
  onFatal: (error) => {
    throw error;
  },
});
const nowMs = (): number => world.nowMs();
const pacer = sendEachTurn();
const grouped = createBatcher(transport, { ...limits, nowMs, pacer });
const single = createBatcher(transport, { ...limits, nowMs, pacer, batchEditsMax: 1 });

const appNo = await addApp(grouped);
await measure(grouped); // Warm-up.
const rates = { grouped: new Array<number>(), single: new Array<number>() };
for (let round = 0; round < rounds; round += 1) {
  rates.grouped.push(await measure(grouped));
  rates.single.push(await measure(single));
}
const together = median(rates.grouped);
const alone = median(rates.single);
console.log(`group commit: ${together.toFixed(0)} subscribes/s (${callers} callers)`);
console.log(`one transaction each: ${alone.toFixed(0)} subscribes/s`);
console.log(`ratio: ${(together / alone).toFixed(1)}`);
await grouped.close();
await rm(dataDir, { recursive: true });

/** Each caller subscribes again as soon as it is answered. */
async function measure(batcher: Batcher): Promise<number> {
  const startMs = world.monotonicMs();
  let left = editsPerRound;
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (left > 0) {
        left -= 1;
        await subscribe(batcher);
      }
    }),
  );
  return (editsPerRound * 1000) / (world.monotonicMs() - startMs);
}

async function subscribe(batcher: Batcher): Promise<void> {
  const output = await batcher.edit('subscribe', {
    subscription: {
      id: newId(),
      appNo,
      contract: 'Ringback',
      operation: 'subscribe',
      callbacks: [
        {
          position: 0,
          label: 'myEvent',
          events: ['*'],
          definition: 'subscribe/myEvent/0',
          method: 'post',
          url: 'https://receiver.example/callback',
          inactive: undefined,
        },
      ],
      secrets: world.randomBytes(130),
    },
    idempotency: undefined,
  });
  assert.equal(output.kind, 'created');
}

async function addApp(batcher: Batcher): Promise<number> {
  const id = newId();
  const hash = createHash('sha256').update(id).digest();
  const key = { id: id.slice(-8), hash, name: 'bench', scopes: ['subscribe' as const] };
  const input = { id, name: id, key: { ...key, expiresMs: undefined } };
  const output = await batcher.edit('createApp', input);
  assert(output.kind === 'created');
  return output.app.no;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
