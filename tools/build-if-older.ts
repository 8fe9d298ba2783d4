// Builds something if the last build is older than what it is made of. One process builds at a time.
import { globSync, statSync } from 'node:fs';
import { mkdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { realWorld } from '../src/core/world.ts';

export const root = join(import.meta.dirname, '..');

export interface Building {
  /** 'The console' */
  what: string;
  /** What it is made of, as patterns. */
  sources: readonly string[];
  /** A file that each build writes. */
  built: string;
  /** A folder that is there while somebody builds. */
  lock: string;
  build: () => Promise<void>;
}

const turnMs = 180_000;
/** Nothing builds for so long: whoever took the turn was ended meanwhile. */
const staleMs = 60_000;
const askMs = 50;

export async function buildIfOlder(building: Building): Promise<void> {
  if (isBuilt(building)) return;
  await using _turn = await takeTurn(building);
  if (isBuilt(building)) return;
  await building.build();
  if (!isBuilt(building)) throw new Error(`${building.what} was not built`);
}

function isBuilt({ sources, built }: Building): boolean {
  const builtMs = changedMs(built);
  return globSync(sources, { cwd: root }).every((path) => changedMs(path) <= builtMs);
}

function changedMs(path: string): number {
  return statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

async function takeTurn({ what, lock }: Building): Promise<AsyncDisposable> {
  const folder = join(root, lock);
  for (let waitedMs = 0; waitedMs < turnMs; waitedMs += askMs) {
    try {
      await mkdir(folder);
      return { [Symbol.asyncDispose]: async () => rmdir(folder) };
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
      const heldMs = realWorld().nowMs() - changedMs(lock);
      if (heldMs > staleMs) await rm(folder, { recursive: true, force: true });
    }
    await sleep(askMs);
  }
  throw new Error(`${what} cannot be built: "${folder}" is there for ${turnMs} ms, delete it`);
}
