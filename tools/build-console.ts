// Builds the console as it stands in console/src, if the last build is older: before a start, a test, a pack. One
// process builds at a time. Who left out the development dependencies gets a service that works without it.
import { execFile } from 'node:child_process';
import { existsSync, globSync, statSync } from 'node:fs';
import { mkdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { realWorld } from '../src/core/world.ts';

const root = join(import.meta.dirname, '..');
const lock = join(root, 'console', '.building');
const vite = join(root, 'node_modules', '.bin', 'vite');
const turnMs = 180_000;
/** Nothing builds for so long: whoever took the turn was ended meanwhile. */
const staleMs = 60_000;
const askMs = 50;

if (import.meta.main) {
  if (existsSync(vite)) await buildConsole();
  else console.log('The console is not built: that needs the development dependencies.');
}

export async function buildConsole(): Promise<void> {
  if (isBuilt()) return;
  await using _turn = await takeTurn();
  if (isBuilt()) return;
  const done = await promisify(execFile)(vite, ['build', 'console', '--logLevel', 'warn'], {
    cwd: root,
  });
  if (!isBuilt()) throw new Error(`The console was not built: ${done.stdout}${done.stderr}`);
}

function isBuilt(): boolean {
  const built = changedMs('console/dist/index.html');
  const sources = globSync('{console/*.*,console/src/**/*.*,src/core/*.ts}', { cwd: root });
  return sources.every((path) => changedMs(path) <= built);
}

function changedMs(path: string): number {
  return statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

async function takeTurn(): Promise<AsyncDisposable> {
  for (let waitedMs = 0; waitedMs < turnMs; waitedMs += askMs) {
    try {
      await mkdir(lock);
      return { [Symbol.asyncDispose]: async () => rmdir(lock) };
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
      const heldMs = realWorld().nowMs() - changedMs('console/.building');
      if (heldMs > staleMs) await rm(lock, { recursive: true, force: true });
    }
    await sleep(askMs);
  }
  throw new Error(`Cannot build the console: "${lock}" is there for ${turnMs} ms, delete it`);
}
