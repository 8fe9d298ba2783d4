// Publishes whose connection is cut at the commit: before the server got it, with and without an answer to what was
// written before, after it got it, and after it was done. The node that publishes delivers, too, so that what it does
// not know of would be its own.
import {
  asksToCommit,
  hasCommitted,
  type Matches,
  type Passing,
  type PostgresProxy,
  type When,
} from '../../postgres/proxy.ts';
import type { SourceChange } from '../controls/change-source.ts';
import type { Finding } from '../finding.ts';
import { cameAgain, judgeEvents, subscribeAt } from './cut-paths.ts';
import { setCutStage } from './cut-stage.ts';

export interface CommitOptions {
  /** Of each kind of cut. */
  rounds: number;
  changes?: readonly SourceChange[];
  /** How long all may take to end. */
  drainMs?: number;
}

const cuts: readonly (readonly [string, When, Matches])[] = [
  ['cut before the server got it', 'before', asksToCommit],
  ['cut before the server got it, all else answered', 'answered', asksToCommit],
  ['cut after the server got it', 'after', asksToCommit],
  ['cut after it was done', 'before', hasCommitted],
];

export async function cutCommits(options: CommitOptions): Promise<Finding> {
  const { rounds, changes = [], drainMs } = options;
  await using stage = await setCutStage('all', changes);
  await subscribeAt(stage, stage.receiver.url);
  const figures: Record<string, number> = {};
  for (const [name, when, matches] of cuts) {
    const before = stage.refusals;
    for (let round = 1; round <= rounds; round += 1) {
      let isCut = false;
      void cutPublish(stage.proxy, when, matches).then(() => (isCut = true));
      await stage.publish(stage.cut);
      if (!isCut) stage.violations.push(`void: a commit was not ${name}`);
      stage.proxy.forget();
    }
    figures[name] = rounds;
    figures[`${name}: answered with 503`] = stage.refusals - before;
  }
  await judgeEvents(stage, drainMs === undefined ? {} : { drainMs });
  const again = cameAgain(stage);
  // What was answered with an event was sent under one lease; nothing else has happened to the node.
  if (again > 0) stage.violations.push(`I5: ${again} callbacks came again`);
  const { violations } = stage;
  return { part: 'postgres: cut at the commit', figures, violations, events: stage.events() };
}

/** Cuts at the commit of the next transaction that makes an event. */
async function cutPublish(proxy: PostgresProxy, when: When, matches: Matches): Promise<Passing> {
  let publishing: number | undefined;
  return proxy.cut(when, (message) => {
    if (/insert into event /.test(message.sql ?? '')) publishing = message.connection;
    return message.connection === publishing && matches(message);
  });
}
