// The console as it stands in console/src, built: only if the last build is older, and by one test file
// at a time.
import { execFile } from 'node:child_process';
import { globSync, statSync } from 'node:fs';
import { mkdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '..', '..');
const lock = join(root, 'console', '.building');

export async function buildConsole(): Promise<void> {
  if (isBuilt()) return;
  await using _turn = await takeTurn();
  if (isBuilt()) return;
  const vite = join(root, 'node_modules', '.bin', 'vite');
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

const turnMs = 180_000;
const askMs = 50;

async function takeTurn(): Promise<AsyncDisposable> {
  for (let waitedMs = 0; waitedMs < turnMs; waitedMs += askMs) {
    try {
      await mkdir(lock);
      return { [Symbol.asyncDispose]: async () => rmdir(lock) };
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
    await sleep(askMs);
  }
  throw new Error(`Cannot build the console: "${lock}" is there for ${turnMs} ms, delete it`);
}
