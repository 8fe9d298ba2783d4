// Disk faults at every call of the store: a kill before the call or in the middle of a write, a failed sync, a full disk.
// Everything acknowledged until then must be there afterwards.
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
  /** How many points of each path to try, evenly spread; all by default. */
  pointsMax?: number;
  only?: readonly Cut[];
  /** Only calls on paths that match. */
  calls?: RegExp;
  /** Changes to the source, for a control. */
  changes?: readonly SourceChange[];
}

/**
 * Kills the process at a call to the disk, or in the middle of one. The simulated power cuts cover every resulting
 * image, too; here a real process dies, with all its threads.
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

/** After a failed sync the process must not acknowledge anything; earlier acknowledgements must persist. */
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

/** The disk is full from one call on. The next process has space again. */
export async function fillDisk(options: DiskFaultOptions = {}): Promise<Finding> {
  return atCalls('disk full (ENOSPC)', options, async (stage) => {
    const points = stage.calls.map(({ no }) => ({ ...stage.env, PROOF_FULL: `${no}` }));
    return failAtAll(stage, spread(points, stage.most));
  });
}

interface CallStage {
  template: Template;
  scratch: string;
  /** The disk calls of the path without a fault. */
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
  if (ran.code !== 0) throw new Error(`Cannot run "${template.cut}" without a fault: ${ran.err}`);
  return readRecording(readFileSync(log), '');
}

/** A process may survive a fault, such as a failed sync of a folder, but must not lose an acknowledged write. */
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
 * The shim writes all bytes even if it fails the sync, so nothing is ever missing; what counts is what the process
 * acknowledges after it. Of several concurrent requests, some may have been written before the failure, but not all.
 * A close does not count: everything has been acknowledged, and SQLite silently keeps its log if a checkpoint fails.
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
  if (code === 0) flaws.push('I12: a sync failed, but the process exited with 0');
  if (promised.length >= Math.max(1, tried.length - answered.length)) {
    flaws.push(`I12: after a failed sync: ${JSON.stringify(promised[0])}`);
  }
  return flaws;
}
