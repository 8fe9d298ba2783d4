// The store cannot write for a while: the disk is full or read-only, another process has locked the database, or
// its file is moved away. Meanwhile the node must refuse publishes and report that it is not ready; afterwards it
// must recover without a restart (I12).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { limits } from '../../../src/core/limits/limits.ts';
import { status, type Serving } from '../../cli/ringback-process.ts';
import type { Finding } from '../finding.ts';
import type { Changes, Node } from './node.ts';
import { brokenMs, onNode, publish, settled, subscribe } from './node.ts';

const several = 5;
/** How long the refusal of a publish may take, and the first delivery after the fault. */
const answerMs = 5_000;
const healMs = 5_000;
const lookMs = 50;

type During = (body: () => Promise<void>, serving: Serving) => Promise<void>;

export async function fullDisk(changes: Changes = [], busyMs?: number): Promise<Finding> {
  const options = { part: 'disk full under the service', changes, disk: true };
  return onNode({ ...options, ...patience(busyMs) }, async (node) =>
    failAndHeal(node, 'the disk is full', async (body) => node.fault('full', body)),
  );
}

export async function readOnlyDisk(changes: Changes = []): Promise<Finding> {
  return onNode({ part: 'disk turns read-only', changes, disk: true }, async (node) =>
    failAndHeal(node, 'the disk is read-only', async (body) => node.fault('rofs', body)),
  );
}

/** Holds the lock for longer than a write waits for it. */
export async function lockedDatabase(changes: Changes = []): Promise<Finding> {
  return onNode({ part: 'another process holds the database', changes }, async (node) =>
    failAndHeal(node, 'another process holds a transaction', async (body) => {
      await using _holder = await holdDatabase(node, 'begin immediate');
      await body();
    }),
  );
}

/** Moves the file away and back: the next start would not find what is written in between. */
export async function movedDatabase(changes: Changes = [], busyMs?: number): Promise<Finding> {
  const options = { part: 'database file moved away', changes };
  return onNode({ ...options, ...patience(busyMs) }, async (node) => {
    const path = join(node.data, 'ringback.db');
    await failAndHeal(node, 'the database is moved away', async (body, serving) => {
      await settled(serving); // A commit in progress would end the process, as it should.
      renameSync(path, `${path}.away`);
      await body().finally(() => renameSync(`${path}.away`, path));
    });
  });
}

/** Deletes SQLite's write-ahead log: the node must refuse publishes, and a stop must save all accepted events. */
export async function deletedLog(changes: Changes = []): Promise<Finding> {
  return onNode({ part: 'write-ahead log deleted', changes }, async (node) => {
    {
      await using serving = await begin(node);
      await settled(serving);
      rmSync(join(node.data, 'ringback.db-wal'));
      await refuses(node, serving, 'the log is deleted');
      serving.signal('SIGTERM');
      const code = await serving.ended;
      if (code !== 0)
        node.violations.push(`I12: a stop after the log was deleted ended with ${code}`);
    }
    await using next = await node.start();
    await node.missing(next, 'the log was deleted');
    await node.accept(next);
    await node.undelivered('the log was deleted');
  });
}

/**
 * Deletes the database itself. It cannot be saved, but the node must refuse publishes, and the next start must
 * not create an empty one.
 */
export async function deletedDatabase(changes: Changes = []): Promise<Finding> {
  return onNode({ part: 'database file deleted', changes }, async (node) => {
    {
      await using serving = await begin(node);
      await settled(serving);
      for (const end of ['', '-wal', '-shm']) rmSync(join(node.data, `ringback.db${end}`));
      await refuses(node, serving, 'the database is deleted');
    }
    await refusedStart(node, { what: 'without its database', says: 'the file does not exist' });
  });
}

/** An applied migration differs from the one in the program: the start must refuse the database. */
export async function changedMigration(changes: Changes = []): Promise<Finding> {
  return onNode({ part: 'a migration that was changed', changes }, async (node) => {
    {
      await using serving = await begin(node);
      await settled(serving);
      serving.signal('SIGTERM');
      await serving.ended;
    }
    const db = new DatabaseSync(join(node.data, 'ringback.db'));
    const change = (hash: string): void => {
      db.prepare('update migration set hash = ? where number = 7').run(hash);
    };
    const before = String(
      db.prepare('select hash from migration where number = 7').get()?.['hash'],
    );
    change('0'.repeat(64));
    await refusedStart(node, { what: 'on a changed migration', says: 'the file was changed' });
    change(before);
    db.close();
    await using next = await node.start();
    await node.missing(next, 'after a refused start');
  });
}

async function refusedStart(
  node: Node,
  { what, says }: { what: string; says: string },
): Promise<void> {
  await using child = node.tryStart();
  const runs = child.says(/listens on/).then(
    () => 'it runs',
    () => undefined,
  );
  const code = await Promise.race([runs, child.ended]);
  const isRefused = code === 1 && child.err().includes(says) && !/^\s+at /m.test(child.err());
  if (!isRefused) node.violations.push(`I12: a start ${what}: ${code} ${child.err()}`);
}

/** A long reader prevents checkpoints, so the log grows. After it has ended, the log must stop growing. */
export async function longReader(changes: Changes = [], events = 1_500): Promise<Finding> {
  return onNode({ part: 'a reader that stays for long', changes }, async (node) => {
    await using serving = await begin(node);
    const log = join(node.data, 'ringback.db-wal');
    const publishMany = async (count: number): Promise<void> => {
      for (let sent = 0; sent < count; sent += several * 20) {
        await Promise.all(Array.from({ length: several * 20 }, async () => node.accept(serving)));
      }
    };
    let grownBytes = 0;
    {
      await using _holder = await holdDatabase(node, 'begin; select count(*) from event');
      await publishMany(events);
      await node.undelivered('during a long read');
      grownBytes = statSync(log).size;
    }
    await publishMany(events);
    await node.undelivered('after a long read');
    const laterBytes = statSync(log).size;
    node.figures['log while it is read (MB)'] = megabytes(grownBytes);
    node.figures['log after as much again (MB)'] = megabytes(laterBytes);
    // A checkpoint lets SQLite reuse the log from its start, so it must not grow as it did before.
    const folded = limits.storeLogPages * 4096;
    if (laterBytes > grownBytes + 2 * folded) {
      node.violations.push(`I11: the log grew to ${grownBytes} bytes, and then to ${laterBytes}`);
    }
  });
}

function patience(busyMs: number | undefined): { busyMs?: number } {
  return busyMs === undefined ? {} : { busyMs };
}

/** Starts a node, subscribes, and publishes some events. */
async function begin(node: Node): Promise<Serving> {
  const serving = await node.start();
  try {
    await subscribe(serving, node.receiver);
    for (let sent = 0; sent < several; sent += 1) await node.accept(serving);
    return serving;
  } catch (error) {
    await serving[Symbol.asyncDispose]();
    throw error;
  }
}

async function failAndHeal(node: Node, what: string, during: During): Promise<void> {
  await using serving = await begin(node);
  await during(async () => refuses(node, serving, what), serving);
  const healedMs = performance.now();
  // Events accepted before the fault may still be pending; they must be delivered, too.
  const first = await node.accept(serving);
  await node.undelivered(`after ${what}`);
  const tookMs = performance.now() - healedMs;
  node.figures['first delivery after it healed (ms)'] = Math.round(tookMs);
  if (tookMs > healMs + node.busyMs)
    node.violations.push(`I12: ${first} came ${tookMs} ms after the end of the fault`);
  await becomes(node, serving, { ready: 200, what: `after ${what}` });
  await node.missing(serving, what);
}

/** Checks that every publish is refused in time, and that the node reports that it is not ready. */
async function refuses(node: Node, serving: Serving, what: string): Promise<void> {
  let worstMs = 0;
  const tryOnce = async (): Promise<void> => {
    const askedMs = performance.now();
    const response = await publish(serving);
    await response.arrayBuffer();
    const tookMs = performance.now() - askedMs;
    worstMs = Math.max(worstMs, tookMs);
    if (response.status !== 503) node.violations.push(`I12: ${what}: answered ${response.status}`);
    if (tookMs > answerMs + node.busyMs)
      node.violations.push(`I12: ${what}: answered after ${tookMs} ms`);
  };
  await tryOnce();
  await Promise.all(Array.from({ length: several }, tryOnce));
  node.figures['publish refused within, worst (ms)'] = Math.round(worstMs);
  await becomes(node, serving, { ready: 503, what });
  if ((await status(`${serving.url}/healthz`)) !== 200) {
    node.violations.push(`I12: ${what}: /healthz does not say 200`);
  }
}

/** Waits for the status of /readyz, for as long as the refusal of a publish may take. */
async function becomes(
  node: Node,
  { url }: Serving,
  { ready, what }: { ready: number; what: string },
): Promise<void> {
  const askedMs = performance.now();
  let found = await status(`${url}/readyz`);
  const mostMs = node.isBroken ? brokenMs : answerMs + node.busyMs;
  while (found !== ready && performance.now() - askedMs < mostMs) {
    await wait(lookMs);
    found = await status(`${url}/readyz`);
  }
  if (found !== ready)
    node.violations.push(`I12: ${what}: /readyz says ${found}, expected ${ready}`);
}

/** Starts a process that keeps the database open in a transaction, until it is disposed of. */
async function holdDatabase(node: Node, sql: string): Promise<AsyncDisposable> {
  const program =
    `const { DatabaseSync } = require('node:sqlite');` +
    `const db = new DatabaseSync(process.argv[1], { timeout: 5000 });` +
    `db.exec(process.argv[2]); console.log('held'); process.stdin.resume();` +
    `process.stdin.on('end', () => { db.exec('rollback'); db.close(); });`;
  const args = ['-e', program, join(node.data, 'ringback.db'), sql];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.on('error', () => undefined); // The process has exited already.
  const ended = once(child, 'close');
  const held = once(child.stdout, 'data').then(() => true);
  const holds = await Promise.race([held, ended.then(() => false)]);
  if (!holds) throw new Error(`Cannot hold the database with "${sql}": exit ${child.exitCode}`);
  return {
    [Symbol.asyncDispose]: async () => {
      child.stdin.end();
      await ended;
    },
  };
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1e5) / 10;
}
