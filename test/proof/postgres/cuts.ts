// Cuts the connection to the database at each message of each path: before and after it, in both directions, and
// before it with all earlier messages answered. The client repeats its request until it gets a response; the result
// must be the same as for a single request.
import { setTimeout as wait } from 'node:timers/promises';
import { nowMs } from '../../e2e/event-loop-lag.ts';
import type { Matches, Passing, PostgresProxy, When } from '../../postgres/proxy.ts';
import type { Side } from '../../postgres/wire-messages.ts';
import type { SourceChange } from '../controls/change-source.ts';
import type { Finding } from '../finding.ts';
import { cutPaths, type PathName } from './cut-paths.ts';
import { setCutStage } from './cut-stage.ts';

export interface CutOptions {
  paths: readonly PathName[];
  /** The distance between two cuts, in messages: 1 cuts at each. */
  step?: number;
  changes?: readonly SourceChange[];
  say?: (line: string) => void;
}

/** More messages than any path has. */
const messagesMax = 300;
/** How long a call may still send messages after its response. */
const trailMs = 50;

/** A cut after a message differs from one before the next only in time, so fewer of those are enough. */
const kinds: readonly { side: Side; when: When; times: number }[] = [
  { side: 'frontend', when: 'before', times: 1 },
  { side: 'frontend', when: 'answered', times: 1 },
  { side: 'frontend', when: 'after', times: 4 },
  { side: 'backend', when: 'before', times: 1 },
  { side: 'backend', when: 'after', times: 4 },
];

const wordsFor: Readonly<Record<When, string>> = {
  before: 'before',
  answered: 'all answered, before',
  after: 'after',
};

export async function cutEverywhere(options: CutOptions): Promise<Finding[]> {
  const { paths, step = 1, changes = [], say = () => undefined } = options;
  const findings: Finding[] = [];
  for (const name of paths) {
    const path = cutPaths[name];
    await using stage = await setCutStage(path.cutRole, changes);
    const act = await path.prepare(stage);
    const cut = await cutEachMessage(stage.proxy, act, {
      step,
      say: (line) => say(`${name}: ${line}`),
    });
    const violations = await path.judge(stage);
    violations.push(...cut.violations);
    const { slowestMs } = cut;
    const more = { 'refusals (503)': stage.refusals, 'slowest, ms': slowestMs, ...stage.figures };
    const { accepted, lost } = stage.events();
    findings.push({
      part: `postgres: cut at each message of ${name}`,
      figures: { ...cut.figures, ...more },
      violations,
      events: { accepted, lost },
    });
  }
  return findings;
}

export interface Cuts {
  figures: Record<string, number>;
  violations: string[];
  slowestMs: number;
}

/** Repeats an action, and cuts its connection at one message after the other. */
export async function cutEachMessage(
  proxy: PostgresProxy,
  act: () => Promise<void>,
  { step, say }: { step: number; say: (line: string) => void },
): Promise<Cuts> {
  const figures: Record<string, number> = {};
  const unreached: string[] = [];
  let slowestMs = 0;
  for (const { side, when, times } of kinds) {
    const commitAt = await findCommit(proxy, act, side);
    let cuts = 0;
    for (let k = 1; k <= messagesMax; k += step * times) {
      const tookMs = await cutAt(proxy, act, { when, side, k, isSure: k <= commitAt });
      if (tookMs === undefined && k <= commitAt) unreached.push(`${when} ${k} of the ${side}`);
      if (tookMs === undefined && k > commitAt) break;
      slowestMs = Math.max(slowestMs, tookMs ?? 0);
      cuts += tookMs === undefined ? 0 : 1;
    }
    figures[`${wordsFor[when]} a message of the ${side === 'frontend' ? 'node' : 'server'}`] = cuts;
    say(`${cuts} cuts ${when} messages of the ${side}`);
  }
  const violations: string[] = [];
  if (Object.values(figures).some((cuts) => cuts === 0)) violations.push('void: nothing was cut');
  if (unreached.length > 0) violations.push(`void: not cut: ${unreached.join(', ')}`);
  return { figures, violations, slowestMs };
}

/** Tries per cut, since a transaction of the node itself, such as a heartbeat, may be counted by mistake. */
const triesMax = 3;
/** Tries if the message is known to exist. */
const sureTriesMax = 20;
const looksAtCommit = 5;

/** The number of the message with the commit, or with its confirmation: the median of a few runs without a cut. */
async function findCommit(
  proxy: PostgresProxy,
  act: () => Promise<void>,
  side: Side,
): Promise<number> {
  const found: number[] = [];
  for (let look = 0; look < looksAtCommit; look += 1) {
    let commitAt = 0;
    const counting = sinceBegin(side, (message, k) => {
      const isCommit = message.sql === 'commit' || message.tag === 'COMMIT';
      if (isCommit && commitAt === 0) commitAt = k;
      return false;
    });
    proxy.cut('before', counting).catch(() => undefined);
    await act();
    proxy.forget();
    found.push(commitAt);
  }
  const median = found.toSorted((one, other) => one - other)[Math.floor(looksAtCommit / 2)] ?? 0;
  if (median === 0) throw new Error(`void: no commit among the messages of the ${side}`);
  return median;
}

/** Returns the time until the call succeeded despite the cut; undefined if the path has no such message. */
async function cutAt(
  proxy: PostgresProxy,
  act: () => Promise<void>,
  { when, side, k, isSure }: { when: When; side: Side; k: number; isSure: boolean },
): Promise<number | undefined> {
  const most = isSure ? sureTriesMax : triesMax;
  for (let tries = 1; tries <= most; tries += 1) {
    await act(); // Reconnects and prepares the statements.
    const cut = proxy.cut(
      when,
      sinceBegin(side, (_, at) => at === k),
    );
    const startMs = nowMs();
    await act();
    const wasCut = await Promise.race([cut, wait(trailMs, undefined)]);
    proxy.forget();
    if (wasCut !== undefined) return nowMs() - startMs;
  }
  return undefined;
}

/** Counts the messages of one side from the begin of the next transaction, on its connection. */
function sinceBegin(side: Side, matches: (message: Passing, k: number) => boolean): Matches {
  let connection: number | undefined;
  let seen = 0;
  return (message) => {
    if (message.sql === 'begin') connection ??= message.connection;
    if (message.connection !== connection || message.side !== side) return false;
    seen += 1;
    return matches(message, seen);
  };
}
