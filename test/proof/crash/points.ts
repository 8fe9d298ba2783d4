// Kills a process at every write of every path, then opens its folder again: every acknowledged write must be
// there, and all pending work must finish.
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { databaseIn, makeFolder, migrationsDir, storeOver } from '../../../src/store/open/open.ts';
import { openSqlite, inProcess } from '../../../src/store/sqlite/batch/adapter.ts';
import { compileCache } from '../../cli/ringback-process.ts';
import { changedSource, type SourceChange } from '../controls/change-source.ts';
import type { Finding } from '../finding.ts';
import { aftermath, textOf } from './aftermath.ts';
import type { Line } from './history.ts';
import { readHistory } from './history.ts';
import { makeOldFolder } from './old-folder.ts';
import type { PathName } from './paths.ts';
import { Actor, makeStage, nowMs, paths } from './paths.ts';

/** `migrate`: an empty folder. `upgrade`: an old one with rows. `life`: a first start and normal use after it. */
export type Cut = PathName | 'migrate' | 'upgrade' | 'life';
export const cuts: readonly Cut[] = [
  'publish',
  'claim',
  'settle',
  'unsubscribe',
  'retry',
  'migrate',
  'upgrade',
];

/** Where to kill a process, as environment variables for the preload. */
export type Point = Readonly<Record<string, string>>;

/** A prepared folder, and the history of what has been acknowledged so far. */
export interface Template {
  cut: Cut;
  dataDir: string;
  history: readonly Line[];
  /** Arguments of the child process, its script first. */
  args: readonly string[];
}

/** A RAM disk where there is one: a kill does not affect the page cache, so a real disk adds nothing. */
export const scratchRoot = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
const here = import.meta.dirname;
const preload = new URL('preload.ts', import.meta.url).href;
const childScript = join(here, 'child.ts');
const processesAtOnce = 2;

export interface CrashOptions {
  /** How many points of each path to try, evenly spread; all by default. */
  pointsMax?: number;
  only?: readonly Cut[];
  /** Changes to the source, for a control. */
  changes?: readonly SourceChange[];
}

/** Kills before and after each statement that writes. */
export async function killAtStatements(options: CrashOptions = {}): Promise<Finding> {
  const { pointsMax = Infinity, only = cuts, changes = [] } = options;
  const figures: Record<string, number> = {};
  const violations: string[] = [];
  for (const cut of only) {
    await withScratch(async (scratch) => {
      const template = await makeTemplate(cut, scratch);
      const env = preloaded(changes);
      const count = await countStatements(template, scratch, env);
      const points = Array.from({ length: count }, (_, i) => i + 1).flatMap((at) => [
        { ...env, CRASH_AT: `${at}`, CRASH_SIDE: 'before' },
        { ...env, CRASH_AT: `${at}`, CRASH_SIDE: 'after' },
      ]);
      const found = await killAtAll(template, spread(points, pointsMax), scratch);
      figures[cut] = found.killed;
      violations.push(...found.violations);
    });
  }
  const total = Object.values(figures).reduce((sum, one) => sum + one, 0);
  return { part: 'crash points: statements', figures: { ...figures, total }, violations };
}

/** Always includes the last points: there the work is done, but not yet acknowledged. */
export function spread<T>(all: readonly T[], most: number): readonly T[] {
  const step = Math.max(1, all.length / most);
  const taken = Array.from({ length: Math.min(all.length, most) }, (_, i) =>
    Math.floor(all.length - 1 - i * step),
  );
  return taken.flatMap((index) => all[index] ?? []);
}

function preloaded(changes: readonly SourceChange[]): Point {
  const { NODE_OPTIONS, ...env } = changedSource(changes);
  return { ...env, NODE_OPTIONS: `${NODE_OPTIONS} --import=${preload}` };
}

async function countStatements(template: Template, scratch: string, env: Point): Promise<number> {
  await using ran = await runAt(template, scratch, { ...env, CRASH_COUNT: '1' });
  const { err, code } = ran;
  const count = Number(/main (\d+)/.exec(err)?.[1]);
  if (code !== 0 || !(count > 0))
    throw new Error(`Cannot run "${template.cut}" without a kill: ${err}`);
  return count;
}

export interface KilledAtAll {
  killed: number;
  violations: string[];
}

/** If the process survives, the point does not exist and is not counted. */
export async function killAtAll(
  template: Template,
  points: readonly Point[],
  scratch: string,
): Promise<KilledAtAll> {
  const found: KilledAtAll = { killed: 0, violations: [] };
  await takeTurns(points, async (point) => {
    await using ran = await runAt(template, scratch, point);
    const where = `${template.cut} ${placeOf(point)}`;
    if (ran.code === 'SIGKILL') {
      found.killed += 1;
      const flaws = await aftermath({ ...ran, how: 'finish' });
      found.violations.push(...flaws.map((flaw) => `${where}: ${flaw}`));
    } else if (ran.code !== 0) {
      found.violations.push(`${where}: ended with ${ran.code}: ${ran.err}`);
    }
  });
  if (found.killed === 0) found.violations.push(`void: ${template.cut}: no process was killed`);
  return found;
}

/** Leaves out the variables that all points share. */
export function placeOf(point: Point): string {
  return Object.entries(point)
    .filter(([name]) => /^(CRASH|PROOF)_/.test(name) && name !== 'PROOF_CHANGES')
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
}

/** Runs `body` for all, a few at a time. */
export async function takeTurns<T>(
  all: readonly T[],
  body: (one: T) => Promise<void>,
): Promise<void> {
  const left = all.values();
  const takeTurn = async (): Promise<void> => {
    for (const one of left) await body(one);
  };
  await Promise.all(Array.from({ length: processesAtOnce }, takeTurn));
}

/** Disposing of it removes the folder. */
export interface Ran extends AsyncDisposable {
  code: number | string;
  err: string;
  dataDir: string;
  history: Line[];
}

/** Runs one process on a copy of the template. */
export async function runAt(template: Template, scratch: string, point: Point): Promise<Ran> {
  const folder = mkdtempSync(join(scratch, 'point-'));
  const dataDir = join(folder, 'data');
  if (existsSync(template.dataDir)) cpSync(template.dataDir, dataDir, { recursive: true });
  const file = join(scratch, `${folder.slice(-6)}.history`);
  writeFileSync(file, '');
  const { PATH = '', HOME = '' } = process.env; // No other variables, so that settings of the machine or the test runner do not matter.
  const [script = '', ...args] = template.args;
  const child = spawn(process.execPath, [script, dataDir, file, ...args], {
    env: {
      PATH,
      HOME,
      NODE_COMPILE_CACHE: compileCache,
      PROOF_ROOT: folder,
      PROOF_HISTORY: file,
      ...point,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let err = '';
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  const code = await new Promise<number | string>((resolve, reject) => {
    child.on('error', reject).on('close', (exit, signal) => resolve(exit ?? String(signal)));
  });
  const history = [...template.history, ...readHistory(textOf(file))];
  rmSync(file);
  const dispose = async (): Promise<void> => rmSync(folder, { recursive: true, force: true });
  return { code, err, dataDir, history, [Symbol.asyncDispose]: dispose };
}

export async function makeTemplate(cut: Cut, scratch: string): Promise<Template> {
  const dataDir = join(scratch, 'template');
  if (cut === 'migrate') return { cut, dataDir, history: [], args: [childScript, 'migrate'] };
  if (cut === 'life') {
    return { cut, dataDir, history: [], args: [join(here, '../power/child.ts'), '1'] };
  }
  if (cut === 'upgrade') {
    return { cut, dataDir, history: makeOldFolder(dataDir), args: [childScript, 'migrate'] };
  }
  makeFolder(dataDir);
  const sqlite = openSqlite({ path: databaseIn(dataDir), migrationsDir, nowMs });
  const onFatal = (error: Error): void => {
    throw error;
  };
  const store = storeOver(inProcess(sqlite, { onFatal }), { nowMs: () => nowMs });
  const history: Line[] = [];
  const say = (line: Line): void => void history.push(line);
  const stage = await makeStage(store, say);
  await paths[cut].prepare(new Actor(store, stage, say));
  await store.close();
  return { cut, dataDir, history, args: [childScript, cut, JSON.stringify(stage)] };
}

export async function withScratch<T>(
  body: (scratch: string) => Promise<T>,
  root = scratchRoot,
): Promise<T> {
  const scratch = mkdtempSync(join(root, 'ringback-proof-'));
  try {
    return await body(scratch);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
