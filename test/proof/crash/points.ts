// Kills a process at every write of every path, and looks at what it left: the folder is opened by this
// program again, everything that was promised must be there, and all of it must come to its end.
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

/** Migrate: an empty folder, and an old one with rows in it. Life: a first start and all that follows. */
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

/** Where a process is to die. */
export type Point = Readonly<Record<string, string>>;

/** A folder before the path begins, and what was promised until then. */
export interface Template {
  cut: Cut;
  dataDir: string;
  history: readonly Line[];
  /** Of the child: its script first. */
  args: readonly string[];
}

/** Memory, where the system has it: a kill takes nothing out of the cache of files, wherever they are. */
export const scratchRoot = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
const here = import.meta.dirname;
const preload = new URL('preload.ts', import.meta.url).href;
const childScript = join(here, 'child.ts');
const processesAtOnce = 2;

export interface CrashOptions {
  /** Of the points of each path so many are taken, evenly spread; by default all. */
  pointsMax?: number;
  only?: readonly Cut[];
  /** How the product is broken, to see what this does not catch. */
  changes?: readonly SourceChange[];
}

/** Every statement that writes: before it, and after it. */
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

/** The last ones are always among them: there the work is done and nobody has heard of it. */
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
  if (code !== 0 || !(count > 0)) throw new Error(`${template.cut} does not work at all: ${err}`);
  return count;
}

export interface KilledAtAll {
  killed: number;
  violations: string[];
}

/** Points that a process passes alive are not counted: there is no such point. */
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
  if (found.killed === 0) found.violations.push(`void: ${template.cut}: nobody was killed`);
  return found;
}

/** Without what is the same for all. */
export function placeOf(point: Point): string {
  return Object.entries(point)
    .filter(([name]) => /^(CRASH|PROOF)_/.test(name) && name !== 'PROOF_CHANGES')
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
}

/** As many at once as there are cores on a small machine. */
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

/** The folder goes when it is disposed of. */
export interface Ran extends AsyncDisposable {
  code: number | string;
  err: string;
  dataDir: string;
  history: Line[];
}

/** One process on a copy of the template. */
export async function runAt(template: Template, scratch: string, point: Point): Promise<Ran> {
  const folder = mkdtempSync(join(scratch, 'point-'));
  const dataDir = join(folder, 'data');
  if (existsSync(template.dataDir)) cpSync(template.dataDir, dataDir, { recursive: true });
  const file = join(scratch, `${folder.slice(-6)}.history`);
  writeFileSync(file, '');
  const { PATH = '', HOME = '' } = process.env; // No setting of the machine or of a test runner.
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
