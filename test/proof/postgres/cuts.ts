// The connection to the database is cut at each message of each path, before and after that message, in
// both directions; and before it when all that left with it was answered. Whoever asked repeats until he is
// answered; then everything must be as if he had asked once.
import { setTimeout as wait } from 'node:timers/promises';
import { nowMs } from '../../e2e/event-loop-lag.ts';
import type { Matches, Passing, When } from '../../postgres/proxy.ts';
import type { Side } from '../../postgres/wire-messages.ts';
import type { SourceChange } from '../controls/change-source.ts';
import type { Finding } from '../finding.ts';
import { cutPaths, type PathName } from './cut-paths.ts';
import { setCutStage, type CutStage } from './cut-stage.ts';

export interface CutOptions {
  paths: readonly PathName[];
  /** Messages between two cuts: 1 cuts at each. */
  step?: number;
  changes?: readonly SourceChange[];
  say?: (line: string) => void;
}

/** More than any path has. */
const messagesMax = 300;
/** What an answered call still says to the database comes at once. */
const trailMs = 50;

/** After one message is before the next, but for the time that lies between: so fewer of those will do. */
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
    const figures: Record<string, number> = {};
    const unreached: string[] = [];
    let slowestMs = 0;
    for (const { side, when, times } of kinds) {
      const commitAt = await findCommit(stage, act, side);
      let cuts = 0;
      for (let k = 1; k <= messagesMax; k += step * times) {
        const tookMs = await cutAt(stage, act, { when, side, k, isSure: k <= commitAt });
        if (tookMs === undefined && k <= commitAt) unreached.push(`${when} ${k} of the ${side}`);
        if (tookMs === undefined && k > commitAt) break;
        slowestMs = Math.max(slowestMs, tookMs ?? 0);
        cuts += tookMs === undefined ? 0 : 1;
      }
      figures[`${wordsFor[when]} a message of the ${side === 'frontend' ? 'node' : 'server'}`] =
        cuts;
      say(`${name}: ${cuts} cuts ${when} messages of the ${side}`);
    }
    const violations = await path.judge(stage);
    if (Object.values(figures).some((cuts) => cuts === 0)) violations.push('void: nothing was cut');
    if (unreached.length > 0) violations.push(`void: not cut: ${unreached.join(', ')}`);
    const more = { 'refusals (503)': stage.refusals, 'slowest, ms': slowestMs, ...stage.figures };
    const { accepted, lost } = stage.events();
    findings.push({
      part: `postgres: cut at each message of ${name}`,
      figures: { ...figures, ...more },
      violations,
      events: { accepted, lost },
    });
  }
  return findings;
}

/** A transaction of the node's own, such as a heartbeat, may be counted instead of the one that is meant. */
const triesMax = 3;
/** Where it is known that there is such a message. */
const sureTriesMax = 20;
const looksAtCommit = 5;

/** Which message of that side is the commit, or says that it is done: in most of a few times without a cut. */
async function findCommit(
  { proxy }: CutStage,
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

/** Gives how long it took to be answered all the same; undefined when the path has no such message. */
async function cutAt(
  { proxy }: CutStage,
  act: () => Promise<void>,
  { when, side, k, isSure }: { when: When; side: Side; k: number; isSure: boolean },
): Promise<number | undefined> {
  const most = isSure ? sureTriesMax : triesMax;
  for (let tries = 1; tries <= most; tries += 1) {
    await act(); // The connection is there, and its statements are prepared.
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

/** The messages of a side, on the connection of the next transaction, counted from its beginning. */
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
