// The lock that allows one process at a time, and the data after a process is killed in the middle of its work.
import { strict as assert } from 'node:assert';
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { realWorld } from '../../src/core/base/world.ts';
import { openEmbedded } from '../../src/store/open/open.ts';
import type { Store } from '../../src/store/port/store.ts';

const childPath = fileURLToPath(new URL('./store-process.ts', import.meta.url));

let dataDir: string;
const opened: Store[] = [];
const children: ChildProcess[] = [];
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'ringback-'));
});
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
  for (const child of children.splice(0)) child.kill('SIGKILL');
  rmSync(dataDir, { recursive: true });
});

describe('the one-process lock', () => {
  it('refuses a second process with the reason', async () => {
    const store = await open();
    const second = start('hold');
    const [line] = await linesOf(second, 1);
    assert.equal(
      line,
      `refused in_use Cannot open "${join(dataDir, 'ringback.db')}": another Ringback process is ` +
        'using it. Stop that process, or use a separate data folder',
    );
    await exited(second);
    await store.close();
  });

  it('refuses while another process holds it, and opens after a kill -9 of that process', async () => {
    const holder = start('hold');
    assert.deepEqual(await linesOf(holder, 1), ['opened']);
    await assert.rejects(open(), { name: 'CannotOpenStore', code: 'in_use' });
    await kill(holder);
    const store = await open();
    await store.close();
  });

  it('refuses a second store in the same process, without affecting the first', async () => {
    const store = await open();
    await assert.rejects(open(), { code: 'in_use' });
    const second = start('hold');
    assert.match((await linesOf(second, 1))[0] ?? '', /^refused in_use/);
    await exited(second);
    await store.close();
    await (await open()).close();
  });
});

describe('kill -9 during edits', () => {
  it('loses nothing that was acknowledged', async () => {
    for (const acksWanted of [1, 50, 500]) {
      const child = start('subscribe');
      const seen = await linesOf(child, 1 + acksWanted);
      const rest = linesOf(child, Infinity);
      await kill(child);
      const lines = [...seen, ...(await rest)];
      const appNo = Number(lines[0]?.slice('app '.length));
      const acked = lines.slice(1).map((line) => line.slice('ack '.length));
      assert(acked.length >= acksWanted);

      const store = await open();
      const listed = await allIds(store, appNo);
      const lost = acked.filter((id) => !listed.has(id));
      assert.deepEqual(lost, [], `${lost.length} of ${acked.length} are lost`);
      await store.close();
    }
  });
});

describe('kill -9 during publish, claim and settle', () => {
  it('keeps acknowledged events, releases deliveries in flight, and all counts agree', async () => {
    for (const linesWanted of [20, 600]) {
      const child = start('deliver');
      const seen = await linesOf(child, linesWanted);
      const rest = linesOf(child, Infinity);
      await kill(child);
      const lines = [...seen, ...(await rest)].map((line) => line.split(' '));
      const appNo = Number(lines[0]?.[1]);
      const acked = lines.filter(([what]) => what === 'ack');
      const ended = lines.filter(([what]) => what === 'end');
      assert(acked.length + ended.length >= linesWanted - 1);

      const store = await open();
      for (const [, id = ''] of acked) {
        assert.equal((await store.read('event', { appNo, id }))?.deliveries, 3, `event ${id}`);
      }
      for (const [, event = '', n] of ended) {
        // It may belong to the app of an earlier child process.
        const found = await Promise.all(
          Array.from({ length: appNo }, async (_, i) =>
            store.read('delivery', { appNo: i + 1, event, n: Number(n) }),
          ),
        );
        const states = found.flatMap((one) => one?.state ?? []);
        assert.deepEqual(states, ['delivered'], `delivery ${event} ${n}`);
      }
      const before = await store.read('tally', {});
      const node = { name: 'next', role: 'all', version: '1', aloneHere: true } as const;
      const { freed } = await store.edit('startNode', node);
      assert.equal(freed, before.running);
      const { due, running, delivered, dead, cancelled } = await store.read('tally', {});
      assert.equal(running, 0);
      assert.equal(due, before.due + freed);
      const accepted = await countDeliveries(store);
      assert.equal(due + delivered + dead + cancelled, accepted);
      await store.close();
    }
  });
});

/** The sum over all events of all apps. */
async function countDeliveries(store: Store): Promise<number> {
  let sum = 0;
  const apps = await store.read('apps', { page: { limit: 50, after: undefined } });
  for (const { no: appNo } of apps.items) {
    let after: string | undefined;
    do {
      const page = { limit: 500, after };
      const { items, next } = await store.read('events', { appNo, page, name: undefined });
      for (const { deliveries = 0 } of items) sum += deliveries;
      after = next;
    } while (after !== undefined);
  }
  return sum;
}

async function open(): Promise<Store> {
  const onFatal = (error: Error) => {
    throw error;
  };
  const store = await openEmbedded({ dataDir, world: realWorld(), onFatal });
  opened.push(store);
  return store;
}

function start(task: 'hold' | 'subscribe' | 'deliver'): ChildProcess {
  const stdio = ['ignore', 'pipe', 'inherit'] as const;
  const child = spawn(process.execPath, [childPath, dataDir, task], { stdio: [...stdio] });
  children.push(child);
  return child;
}

const readers = new WeakMap<ChildProcess, AsyncIterator<string>>();

/** The next `count` lines of the child, fewer if it ends before. */
async function linesOf(child: ChildProcess, count: number): Promise<string[]> {
  assert(child.stdout !== null);
  const lines =
    readers.get(child) ?? createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  readers.set(child, lines);
  const taken: string[] = [];
  while (taken.length < count) {
    const next = await lines.next();
    if (next.done === true) break;
    taken.push(next.value);
  }
  return taken;
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await exited(child);
}

async function exited(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

async function allIds(store: Store, appNo: number): Promise<Set<string>> {
  const ids = new Set<string>();
  let after: string | undefined;
  do {
    const page = { limit: 500, after };
    const { items, next } = await store.read('subscriptions', { appNo, page, state: undefined });
    for (const { id } of items) ids.add(id);
    after = next;
  } while (after !== undefined);
  return ids;
}
