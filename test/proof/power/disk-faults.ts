// The disk fails under the store, at every call: the process is killed in it, half of a write is done, a sync
// fails, there is no room any more. What was promised until then must be there afterwards.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { aftermath } from '../crash/aftermath.ts';
import type { Cut, Point, Ran, Template } from '../crash/points.ts';
import {
  cuts,
  killAtAll,
  makeTemplate,
  placeOf,
  runAt,
  spread,
  takeTurns,
  withScratch,
} from '../crash/points.ts';
import { changedSource, type SourceChange } from '../controls/change-source.ts';
import type { Finding } from '../finding.ts';
import { readRecording, type DiskCall } from './recording.ts';
import { compileShim } from './shim.ts';

export interface DiskFaultOptions {
  /** Of the points of each path so many are taken, evenly spread; by default all. */
  pointsMax?: number;
  only?: readonly Cut[];
  /** Only calls on files of this name. */
  calls?: RegExp;
  /** How the product is broken, to see that it is caught. */
  changes?: readonly SourceChange[];
}

/**
 * Killed at a call to the disk, or in the middle of one. Every image that this can leave is among those of
 * the power cuts, too; here it is a process that really dies, with all its threads.
 */
export async function killAtCalls(options: DiskFaultOptions = {}): Promise<Finding> {
  return atCalls('crash points: calls to the disk', options, async (stage) => {
    const { template, scratch, calls, env, most } = stage;
    const points = calls.flatMap(({ kind, path, no }) => {
      if (!(options.calls?.test(path) ?? true)) return [];
      const point = { ...env, PROOF_KILL: `${no}` };
      return kind === 'write' ? [point, { ...point, PROOF_TEAR: '1' }] : [point];
    });
    const { killed, violations } = await killAtAll(template, spread(points, most), scratch);
    return { count: killed, violations };
  });
}

/** After a sync that failed nothing may be promised any more; what was promised before stays. */
export async function failSyncs(options: DiskFaultOptions = {}): Promise<Finding> {
  return atCalls('fsync fails (EIO)', options, async (stage) => {
    const syncs = stage.calls.filter(({ kind }) => kind === 'sync');
    const points = syncs.map((_, index) => ({ ...stage.env, PROOF_EIO: `${index + 1}` }));
    let failed = 0;
    const { violations } = await failAtAll(stage, spread(points, stage.most), (ran) => {
      if (ran.history.some(({ say }) => say === 'sync failed')) failed += 1;
      return promisesInDoubt(ran);
    });
    const isVoid = failed === 0 ? [`void: ${stage.template.cut}: no sync failed`] : [];
    return { count: failed, violations: [...violations, ...isVoid] };
  });
}

/** From one call on there is no room. The next process finds room again. */
export async function fillDisk(options: DiskFaultOptions = {}): Promise<Finding> {
  return atCalls('disk full (ENOSPC)', options, async (stage) => {
    const points = stage.calls.map(({ no }) => ({ ...stage.env, PROOF_FULL: `${no}` }));
    return failAtAll(stage, spread(points, stage.most));
  });
}

interface CallStage {
  template: Template;
  scratch: string;
  /** What the path does to the disk when nothing fails. */
  calls: readonly DiskCall[];
  env: Point;
  most: number;
}

interface Outcome {
  count: number;
  violations: readonly string[];
}

async function atCalls(
  part: string,
  { pointsMax = Infinity, only = [...cuts, 'life'], changes = [] }: DiskFaultOptions,
  body: (stage: CallStage) => Promise<Outcome>,
): Promise<Finding> {
  const figures: Record<string, number> = {};
  const violations: string[] = [];
  for (const cut of only) {
    const why = await withScratch(async (scratch) => {
      const shim = compileShim(scratch);
      if (shim.kind === 'missing') return shim.why;
      const template = await makeTemplate(cut, scratch);
      const env = { LD_PRELOAD: shim.path, ...changedSource(changes) };
      const calls = await recordCalls(template, scratch, env);
      const outcome = await body({ template, scratch, calls, env, most: pointsMax });
      figures[cut] = outcome.count;
      violations.push(...outcome.violations);
      return undefined;
    });
    if (why !== undefined) return { part, figures: {}, violations, skipped: why };
  }
  const total = Object.values(figures).reduce((sum, one) => sum + one, 0);
  return { part, figures: { ...figures, total }, violations };
}

async function recordCalls(template: Template, scratch: string, env: Point): Promise<DiskCall[]> {
  const log = join(scratch, 'log');
  await using ran = await runAt(template, scratch, { ...env, PROOF_LOG: log });
  if (ran.code !== 0) throw new Error(`${template.cut} does not work at all: ${ran.err}`);
  return readRecording(readFileSync(log), '');
}

/** A process may go on where it can, for example when a folder cannot be synced; it may not break a promise. */
async function failAtAll(
  { template, scratch }: CallStage,
  points: readonly Point[],
  judge: (ran: Ran) => string[] = () => [],
): Promise<Outcome> {
  const violations: string[] = [];
  await takeTurns(points, async (point) => {
    await using ran = await runAt(template, scratch, point);
    const where = `${template.cut} ${placeOf(point)}`;
    if (typeof ran.code === 'string') violations.push(`${where}: died of ${ran.code}: ${ran.err}`);
    const flaws = [...judge(ran), ...(await aftermath({ ...ran, how: 'finish' }))];
    violations.push(...flaws.map((flaw) => `${where}: ${flaw}`));
  });
  return { count: points.length, violations };
}

/**
 * All bytes are written here, so nothing is ever missing after a failed sync: what counts is what the process
 * says after it. Of several that were asked together some may have been written before, not all of them. While
 * it closes it has promised all there is; SQLite keeps its log where it cannot be folded, and says nothing.
 */
function promisesInDoubt({ code, history }: Ran): string[] {
  const at = history.findIndex((line) => line.say === 'sync failed' && line.of === 'file');
  const before = history.slice(0, Math.max(at, 0));
  const isClosing =
    before.findLast(({ say }) => say === 'closing' || say === 'closed')?.say === 'closing';
  if (at < 0 || isClosing) return [];
  const tried = before.filter(({ say }) => say.startsWith('try '));
  const answered = before.filter(({ say }) =>
    tried.some((one) => say === one.say.replace('try', 'ack')),
  );
  const promised = history.slice(at).filter(({ say }) => say.startsWith('ack '));
  const flaws: string[] = [];
  if (code === 0) flaws.push('I12: a sync failed, and it ended as if all were well');
  if (promised.length >= Math.max(1, tried.length - answered.length)) {
    flaws.push(`I12: after a failed sync: ${JSON.stringify(promised[0])}`);
  }
  return flaws;
}
