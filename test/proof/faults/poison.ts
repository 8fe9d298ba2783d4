// Rows that cannot be read (F31): each stands alone, everybody else's deliveries flow, and the process neither
// ends nor runs in circles, at this start and at the next.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import type { Serving } from '../../cli/ringback-process.ts';
import { receive } from '../../e2e/receiver.ts';
import type { Finding } from '../finding.ts';
import { auth, onNode, publish, subscribe, type Changes, type Node } from './node.ts';

/** What is spoilt, in the order of the subscriptions: each row stands for one of them. */
const spoiling = {
  'secrets that no key opens': `update subscription set secrets = x'00112233' where no = 1`,
  'headers that no key opens': `update subscription set headers = x'00112233' where no = 2`,
  'settings that are none': `update subscription set settings = '[17]' where no = 3`,
  'a filter that is none': `
    update subscription set filter = '{"/a":' where no = 4;
    update pattern set filtered = 1 where callback = 4`,
  'a callback that is not there': `
    delete from pattern where callback = 5; delete from callback where no = 5`,
  'a url that is none': `update callback set url = 'http://[' where no = 6`,
  'an event name that nobody could publish': `
    update event set name = 'bad name' || char(10) || 'x: y' where name = 'spoilt.name'`,
} as const;

const fanOut = `
  insert into fanout (event, app, contract, version, names)
  select id, app, 'Ringback', 1, '{"no":"list"}' from event order by id limit 1`;

/** Whatever waits is tried at once. */
const hurry = 'update lane set ready_ms = 0, gate_ms = 0; update delivery_live set due_ms = 0';

/** All kinds at once, with sound subscriptions and events among them. */
export async function poisonRows(changes: Changes = []): Promise<Finding> {
  const kinds = Object.keys(spoiling).length;
  return onNode({ part: 'poison rows', changes }, async (node) => {
    node.figures['kinds of rows'] = kinds + 1;
    await using spoilt = await receive(() => 500);
    {
      await using serving = await node.start({ RINGBACK_RETRY: '1h' });
      for (let made = 1; made < kinds; made += 1) await subscribe(serving, spoilt);
      await subscribe(serving, node.receiver);
      await node.accept(serving, 'sound.name');
      await publish(serving, 'spoilt.name');
      await spoilt.waitFor(2 * (kinds - 1));
      await stop(node, serving);
    }
    spoil(node, [...Object.values(spoiling), fanOut, hurry].join(';'));
    await flowsTwice(node, 'poison rows');
  });
}

export async function poisonFanOut(changes: Changes = []): Promise<Finding> {
  return onNode({ part: 'a fan-out that cannot be read', changes }, async (node) => {
    {
      await using serving = await node.start();
      await subscribe(serving, node.receiver);
      await node.accept(serving);
      await node.undelivered('before');
      await stop(node, serving);
    }
    spoil(node, fanOut);
    await flowsTwice(node, 'a fan-out that cannot be read');
  });
}

/** What others publish and receive goes on, in the process that meets the row and in the one after it. */
async function flowsTwice(node: Node, what: string): Promise<void> {
  for (const which of ['first', 'second']) {
    await using serving = await node.start({ RINGBACK_RETRY: '1h' });
    for (let sent = 0; sent < 3; sent += 1) await acceptOnce(node, serving, what);
    await node.undelivered(`${what}, ${which} start`, 20_000);
    await idles(node, serving, what);
    if (node.violations.length > 0) return;
    await stop(node, serving);
  }
}

async function acceptOnce(node: Node, serving: Serving, what: string): Promise<void> {
  const response = await publish(serving, 'sound.name').catch(() => undefined);
  if (response?.status !== 202) {
    const answer = response?.status ?? 'nothing: the process has ended';
    node.violations.push(`I14: ${what}: a publish was answered with ${answer}`);
    return;
  }
  const { eventId } = (await response.json()) as { eventId: string };
  node.acked.push(eventId);
}

const idleMs = 500;
/** What a node that has nothing to do may write in that time, generously. */
const idleBatchesMax = 40;

/** It does not ask the store again and again for what nobody can read. */
async function idles(node: Node, serving: Serving, what: string): Promise<void> {
  const first = await batches(serving);
  await wait(idleMs);
  const last = await batches(serving);
  if (first === undefined || last === undefined) {
    node.violations.push(`I14: ${what}: the process has ended`);
  } else if (last - first > idleBatchesMax) {
    node.violations.push(`I11: ${what}: ${last - first} batches in ${idleMs} ms of nothing to do`);
  }
}

async function batches({ url }: Serving): Promise<number | undefined> {
  const response = await fetch(`${url}/metrics`, { headers: auth }).catch(() => undefined);
  const text = (await response?.text()) ?? '';
  const counts = Array.from(text.matchAll(/^ringback_store_batch\w*_count\S* (\d+)/gm));
  if (counts.length === 0) return undefined;
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}

async function stop(node: Node, serving: Serving): Promise<void> {
  serving.signal('SIGTERM');
  const code = await serving.ended;
  if (code !== 0) node.violations.push(`I14: a stop ended with ${code}`);
}

/** A statement that touches no row spoils nothing. */
function spoil({ data, violations }: Node, sql: string): void {
  const db = new DatabaseSync(join(data, 'ringback.db'), { enableForeignKeyConstraints: false });
  try {
    for (const one of sql.split(';').map((text) => text.trim())) {
      if (db.prepare(one).run().changes === 0) violations.push(`void: no row for: ${one}`);
    }
  } finally {
    db.close();
  }
}
