// Cuts the connection at the commit of a publish: before the server got it, with and without responses to the earlier
// statements, after it got it, and after it was done. The publishing node also delivers, so a commit that it does not
// know of would leave deliveries leased to itself.
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
  /** Rounds per kind of cut. */
  rounds: number;
  changes?: readonly SourceChange[];
  /** The time limit for all deliveries to end. */
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
  // Nothing else has happened to the node, so each event must be sent under a single lease.
  if (again > 0) stage.violations.push(`I5: ${again} callbacks came again`);
  const { violations } = stage;
  return { part: 'postgres: cut at the commit', figures, violations, events: stage.events() };
}

/** Cuts at the commit of the next transaction that inserts an event. */
async function cutPublish(proxy: PostgresProxy, when: When, matches: Matches): Promise<Passing> {
  let publishing: number | undefined;
  return proxy.cut(when, (message) => {
    if (/insert into event\s/.test(message.sql ?? '')) publishing = message.connection;
    return message.connection === publishing && matches(message);
  });
}
