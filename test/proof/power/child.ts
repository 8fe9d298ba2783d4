// Runs a store with its real threads, from the first start on an empty disk, while the shim records the disk calls.
// Usage: node child.ts <folder> <history file> [rounds]
import { openSync } from 'node:fs';
import { realWorld } from '../../../src/core/base/world.ts';
import { readOrMakeKeyFile } from '../../../src/store/open/key-file.ts';
import { openEmbedded } from '../../../src/store/open/open.ts';
import type { Store } from '../../../src/store/port/store.ts';
import { sayTo } from '../crash/history.ts';
import { Actor, makeStage, nowMs } from '../crash/paths.ts';

const [dataDir = '', file = '', rounds = '3'] = process.argv.slice(2);
const say = sayTo(openSync(file, 'a'));

const first = await open();
const { key } = readOrMakeKeyFile(dataDir, realWorld());
say({ say: 'ack key', key: Buffer.from(key).toString('hex') });
const stage = await makeStage(first, say);
const actor = new Actor(first, stage, say);
for (let round = 0; round < Number(rounds); round += 1) await live(actor, round);
await actor.unsubscribe(0);
await actor.sweep(5);
say({ say: 'closing' });
await first.close();
say({ say: 'closed' });

const second = await open();
const later = new Actor(second, stage, say);
await second.edit('startNode', { name: 'b', role: 'all', version: '1', aloneHere: true });
await later.publish('after');
await later.sweep(100);
for (const leased of await later.claim(100)) await later.settle(leased, 'delivered');
await later.unsubscribe(1);
say({ say: 'closing' });
await second.close();
say({ say: 'done' });

/** Runs all paths, some of them concurrently. */
async function live(who: Actor, round: number): Promise<void> {
  const tags = ['a', 'b', 'c', 'd'].map((letter) => `r${round}${letter}`);
  await Promise.all(tags.map(async (tag) => who.publish(tag, { size: 2 })));
  await who.publish(`r${round}large`, { bytes: 20_000, room: 2 });
  const [dead, back, ...rest] = await who.claim(12);
  if (dead !== undefined) await who.settle(dead, 'dead');
  if (back !== undefined) await who.settle(back, 'retry');
  await Promise.all(rest.map(async (leased) => who.settle(leased, 'delivered')));
  if (dead !== undefined) await who.retry(dead);
}

async function open(): Promise<Store> {
  const onFatal = (error: Error): void => {
    throw error;
  };
  return openEmbedded({ dataDir, world: { nowMs: () => nowMs }, onFatal });
}
