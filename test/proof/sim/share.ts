// Runs many seeds in several processes, each of which takes every n-th seed. The result of a seed does not depend on the
// process.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { added, nothing, type Sum } from './batch.ts';
import type { Run } from './run.ts';
import type { Line } from './seeds.ts';

export interface ShareOptions {
  from: number;
  seeds: number;
  processes: number;
  /** Continues after a violation; otherwise each process ends with its first. */
  isPatient?: boolean;
  onFailed?: (run: Run) => void;
  /** Called with the number of seeds done. */
  onSeeds?: (seeds: number) => void;
}

const program = join(import.meta.dirname, 'seeds.ts');

export async function runShared(options: ShareOptions): Promise<Sum> {
  const count = Math.min(options.processes, options.seeds);
  const done = new Map<number, number>();
  const shares = Array.from({ length: count }, async (_, index) =>
    runShare(options, {
      index,
      onSeeds: (seeds) => {
        done.set(index, seeds);
        options.onSeeds?.(done.values().reduce((sum, one) => sum + one, 0));
      },
    }),
  );
  return (await Promise.all(shares)).reduce(added, nothing);
}

async function runShare(
  { from, seeds, processes, isPatient, onFailed }: ShareOptions,
  { index, onSeeds }: { index: number; onSeeds: (seeds: number) => void },
): Promise<Sum> {
  const stride = Math.min(processes, seeds);
  const share = [from + index, seeds - index, stride, isPatient === true ? 'patient' : ''];
  const args = [program, ...share.map(String)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let sum: Sum | undefined;
  const ended = once(child, 'close');
  const errors = text(child.stderr);
  for await (const written of createInterface(child.stdout)) {
    const line = JSON.parse(written) as Line;
    if (line.kind === 'failed') onFailed?.(line.run);
    else if (line.kind === 'so-far') onSeeds(line.seeds);
    else sum = line.sum;
  }
  await ended;
  if (sum === undefined) throw new Error(`Cannot finish a share of the seeds: ${await errors}`);
  return sum;
}
