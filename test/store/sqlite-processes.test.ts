// One process at a time, and what is left when one is killed in the middle of its work.
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
import { realWorld } from '../../src/core/world.ts';
import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';

const childPath = fileURLToPath(new URL('./child.ts', import.meta.url));

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
  it('refuses a second process and says why', async () => {
    const store = await open();
    const second = start('hold');
    const [line] = await linesOf(second, 1);
    assert.equal(
      line,
      `refused in_use Cannot open "${join(dataDir, 'ringback.db')}": another Ringback process is ` +
        'using it; stop that process, or give this one a data folder of its own',
    );
    await exited(second);
    await store.close();
  });

  it('refuses while another process has it, and opens after a kill -9 of that process', async () => {
    const holder = start('hold');
    assert.deepEqual(await linesOf(holder, 1), ['opened']);
    await assert.rejects(open(), { name: 'CannotOpenStore', code: 'in_use' });
    await kill(holder);
    const store = await open();
    await store.close();
  });

  it('refuses a second store in the same process, and harms the first one not', async () => {
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
    for (const acksWanted of [1, 50, 200, 500, 1_000]) {
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

async function open(): Promise<Store> {
  const onFatal = (error: Error) => {
    throw error;
  };
  const store = await openStore({ dataDir, world: realWorld(), onFatal });
  opened.push(store);
  return store;
}

function start(task: 'hold' | 'subscribe'): ChildProcess {
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
