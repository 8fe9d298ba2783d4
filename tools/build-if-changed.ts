// Builds a target if its sources differ from those of the last build. One process builds at a time.
import { hash } from 'node:crypto';
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { mkdir, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { realWorld } from '../src/core/base/world.ts';

export const root = join(import.meta.dirname, '..');

export interface Building {
  /** 'The console' */
  what: string;
  /** Its sources, as glob patterns. */
  sources: readonly string[];
  /** A file that each build writes. */
  built: string;
  /** The file with the fingerprint of the last build's sources. */
  note: string;
  /** A folder that exists during a build. */
  lock: string;
  build: () => Promise<void>;
}

const turnMs = 180_000;
/** No build takes this long: the process that held the lock must have been killed. */
const staleMs = 60_000;
const askMs = 50;

export async function buildIfChanged(building: Building): Promise<void> {
  if (isBuilt(building)) return;
  await using _turn = await takeTurn(building);
  if (isBuilt(building)) return;
  const note = join(root, building.note);
  const made = madeOf(building);
  await rm(note, { force: true }); // An interrupted build does not count.
  await building.build();
  if (!existsSync(join(root, building.built))) throw new Error(`${building.what} was not built`);
  await mkdir(dirname(note), { recursive: true });
  await writeFile(note, made);
}

function isBuilt(building: Building): boolean {
  const note = join(root, building.note);
  if (!existsSync(join(root, building.built)) || !existsSync(note)) return false;
  return readFileSync(note, 'utf8') === madeOf(building);
}

/**
 * A fingerprint, not just a comparison of times: another release that is unpacked over this one may
 * have older files, and files may have been deleted.
 */
function madeOf({ sources }: Building): string {
  const lines = globSync(sources, { cwd: root })
    .toSorted()
    .map((path) => {
      const { size, mtimeMs } = statSync(join(root, path));
      return `${path} ${size} ${mtimeMs}`;
    });
  return hash('sha256', lines.join('\n'));
}

async function takeTurn({ what, lock }: Building): Promise<AsyncDisposable> {
  const folder = join(root, lock);
  for (let waitedMs = 0; waitedMs < turnMs; waitedMs += askMs) {
    try {
      await mkdir(folder);
      return { [Symbol.asyncDispose]: async () => rmdir(folder) };
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
      const sinceMs = statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
      const heldMs = realWorld().nowMs() - sinceMs;
      if (heldMs > staleMs) await rm(folder, { recursive: true, force: true });
    }
    await sleep(askMs);
  }
  throw new Error(`${what} cannot be built: "${folder}" has existed for ${turnMs} ms, delete it`);
}
