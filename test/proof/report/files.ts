// Files of the proof in docs/: the figures of the last run, of the long simulation and of mutation testing, and the page
// generated from them.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MutationRun } from './mutation.ts';
import { proofPage, type LongRun, type ProofRun } from './page.ts';
import { withoutFolders } from './place.ts';

const docs = join(import.meta.dirname, '..', '..', '..', 'docs');
const runPath = join(docs, 'proof', 'run.json');
const longRunPath = join(docs, 'proof', 'long-run.json');
const mutationPath = join(docs, 'proof', 'mutation.json');
export const pagePath = join(docs, 'proof.md');

export function keepRun(run: ProofRun): void {
  keep(runPath, run);
}

export function keepLongRun(run: LongRun): void {
  keep(longRunPath, run);
}

export function keepMutation(run: MutationRun): void {
  keep(mutationPath, run);
}

/** Generates the page from the stored figures. */
export function pageOfFiles(): string {
  const run = JSON.parse(readFileSync(runPath, 'utf8')) as ProofRun;
  return proofPage(run, keptLongRun(), keptMutation());
}

export function keptLongRun(): LongRun | undefined {
  if (!existsSync(longRunPath)) return undefined;
  return JSON.parse(readFileSync(longRunPath, 'utf8')) as LongRun;
}

function keptMutation(): MutationRun | undefined {
  if (!existsSync(mutationPath)) return undefined;
  return JSON.parse(readFileSync(mutationPath, 'utf8')) as MutationRun;
}

export function writePage(): void {
  writeFileSync(pagePath, pageOfFiles());
}

function keep(path: string, value: unknown): void {
  mkdirSync(join(docs, 'proof'), { recursive: true });
  const shown = (_key: string, one: unknown): unknown =>
    typeof one === 'string' ? withoutFolders(one) : one;
  writeFileSync(path, `${JSON.stringify(value, shown, 1)}\n`);
}
