// The connection to the database is cut at each message of each path, before and after that message, in
// both directions. Whoever asked repeats until he is answered; then everything must be as if he had asked
// once.
import { setTimeout as wait } from 'node:timers/promises';
import { nowMs } from '../../e2e/lag.ts';
import type { Matches, When } from '../../postgres/proxy.ts';
import type { Side } from '../../postgres/messages.ts';
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
  { side: 'frontend', when: 'after', times: 4 },
  { side: 'backend', when: 'before', times: 1 },
  { side: 'backend', when: 'after', times: 4 },
];

export async function cutEverywhere(options: CutOptions): Promise<Finding[]> {
  const { paths, step = 1, changes = [], say = () => undefined } = options;
  const findings: Finding[] = [];
  for (const name of paths) {
    const path = cutPaths[name];
    await using stage = await setCutStage(path.cutRole, changes);
    const act = await path.prepare(stage);
    const figures: Record<string, number> = {};
    let slowestMs = 0;
    for (const { side, when, times } of kinds) {
      let cuts = 0;
      for (let k = 1; k <= messagesMax; k += step * times) {
        const tookMs = await cutAt(stage, act, { when, side, k });
        if (tookMs === undefined) break;
        slowestMs = Math.max(slowestMs, tookMs);
        cuts += 1;
      }
      figures[`${when} a message of the ${side === 'frontend' ? 'node' : 'server'}`] = cuts;
      say(`${name}: ${cuts} cuts ${when} messages of the ${side}`);
    }
    const violations = await path.judge(stage);
    if (Object.values(figures).some((cuts) => cuts === 0)) violations.push('void: nothing was cut');
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

/** Gives how long it took to be answered all the same; undefined when the path has no such message. */
async function cutAt(
  { proxy }: CutStage,
  act: () => Promise<void>,
  { when, side, k }: { when: When; side: Side; k: number },
): Promise<number | undefined> {
  for (let tries = 1; tries <= triesMax; tries += 1) {
    await act(); // The connection is there, and its statements are prepared.
    const cut = proxy.cut(when, kthSinceBegin(side, k));
    const startMs = nowMs();
    await act();
    const wasCut = await Promise.race([cut, wait(trailMs, undefined)]);
    proxy.forget();
    if (wasCut !== undefined) return nowMs() - startMs;
  }
  return undefined;
}

/** The k-th message of a side, on the connection of the next transaction, counted from its beginning. */
function kthSinceBegin(side: Side, k: number): Matches {
  let connection: number | undefined;
  let seen = 0;
  return (message) => {
    if (message.sql === 'begin') connection ??= message.connection;
    if (message.connection !== connection || message.side !== side) return false;
    seen += 1;
    return seen === k;
  };
}
