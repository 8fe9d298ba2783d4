// Ends a cluster and removes its folder as soon as standard input closes: because the test asked for it,
// or because the test's process has ended in any way. watch() runs it as a separate process. Each line
// that it reads is the id of the process that now runs in the folder, 0 for none.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { familyOf, freezeFamily, signalAll } from './process-tree.ts';

const patienceMs = 10_000;
const pollMs = 10;

export interface Watchdog {
  /** Sets the process that must end with this one; `undefined` for none. */
  guard: (pid: number | undefined) => void;
  /** Ends that process, removes the folder, and resolves when both are gone. */
  end: () => Promise<void>;
}

/** In its own session, so that Ctrl-C in the terminal does not end it before its work is done. */
export function watch(folder: string): Watchdog {
  const child = spawn(process.execPath, [import.meta.filename, folder], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const ended = once(child, 'exit');
  child.unref();
  child.stdin.on('error', () => undefined); // The watchdog was killed, so nothing is guarded.
  return {
    guard: (pid) => {
      if (child.stdin.writable) child.stdin.write(`${pid ?? 0}\n`);
    },
    end: async () => {
      child.ref();
      child.stdin.end();
      await ended;
    },
  };
}

if (import.meta.main) await untilAlone(String(process.argv[2]));

async function untilAlone(folder: string): Promise<void> {
  let pid = 0;
  for await (const line of createInterface({ input: process.stdin })) pid = Number(line);
  if (pid !== 0) await endFamily(pid);
  freeSharedMemory(folder);
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** SIGQUIT is PostgreSQL's immediate shutdown: no checkpoint, but it frees its shared memory. */
async function endFamily(pid: number): Promise<void> {
  const family = freezeFamily(pid); // So that no process forks meanwhile.
  signalAll(family, 'SIGQUIT');
  signalAll(family, 'SIGCONT');
  for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += pollMs) {
    if (!family.some((member) => familyOf(member).length > 0)) return;
    await wait(pollMs);
  }
  signalAll(family, 'SIGKILL');
}

/**
 * A killed cluster leaves its lock file, and a System V segment whose id is in that file. The kernel has
 * room for 4,096 segments, and keeps them until the machine restarts.
 */
function freeSharedMemory(folder: string): void {
  let lines: string[];
  try {
    lines = readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8').split('\n');
  } catch {
    return;
  }
  const segment = lines[6]?.trim().split(/\s+/)[1];
  if (segment !== undefined) spawnSync('ipcrm', ['-m', segment]);
}
