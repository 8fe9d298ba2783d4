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

describe('the one-process lock', () => {
  let dataDir: string;
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'ringback-'));
  });
  afterEach(() => rmSync(dataDir, { recursive: true }));

  it('refuses a second process and says why', async () => {
    const store = await open(dataDir);
    const second = start(dataDir, 'hold');
    const [line] = await linesOf(second, 1);
    assert.equal(
      line,
      `refused in_use Cannot open "${join(dataDir, 'ringback.db')}": another Ringback process is ` +
        'using it; stop that process, or give this one a data folder of its own',
    );
    await once(second, 'exit');
    await store.close();
  });

  it('refuses while another process has it, and opens after a kill -9 of that process', async () => {
    const holder = start(dataDir, 'hold');
    assert.deepEqual(await linesOf(holder, 1), ['opened']);
    await assert.rejects(open(dataDir), { name: 'CannotOpenStore', code: 'in_use' });
    await kill(holder);
    const store = await open(dataDir);
    await store.close();
  });

  it('refuses a second store in the same process, and harms the first one not', async () => {
    const store = await open(dataDir);
    await assert.rejects(open(dataDir), { code: 'in_use' });
    const second = start(dataDir, 'hold');
    assert.match((await linesOf(second, 1))[0] ?? '', /^refused in_use/);
    await once(second, 'exit');
    await store.close();
    await (await open(dataDir)).close();
  });
});

describe('kill -9 during edits', () => {
  it('loses nothing that was acknowledged', async (t) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'ringback-'));
    t.after(() => rmSync(dataDir, { recursive: true }));
    for (const acksWanted of [1, 50, 200, 500, 1_000]) {
      const child = start(dataDir, 'subscribe');
      const seen = await linesOf(child, 1 + acksWanted);
      const rest = linesOf(child, Infinity);
      await kill(child);
      const lines = [...seen, ...(await rest)];
      const appNo = Number(lines[0]?.slice('app '.length));
      const acked = lines.slice(1).map((line) => line.slice('ack '.length));
      assert(acked.length >= acksWanted);

      const store = await open(dataDir);
      const listed = await allIds(store, appNo);
      const lost = acked.filter((id) => !listed.has(id));
      assert.deepEqual(lost, [], `${lost.length} of ${acked.length} are lost`);
      await store.close();
    }
  });
});

async function open(dataDir: string): Promise<Store> {
  return openStore({
    dataDir,
    world: realWorld(),
    onFatal: (error) => {
      throw error;
    },
  });
}

function start(dataDir: string, task: 'hold' | 'subscribe'): ChildProcess {
  return spawn(process.execPath, [childPath, dataDir, task], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
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
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
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
