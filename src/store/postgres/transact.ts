// One transaction from `begin` to a commit whose outcome is known. A connection that breaks at the
// commit leaves it open whether it happened; then the database is asked, over a new connection.
import type { Client } from 'pg';
import { limits } from '../../core/limits.ts';
import { endOfTurn } from '../../core/pace.ts';
import type { World } from '../../core/world.ts';
import type { Row } from '../row.ts';
import { integer, one, text } from '../row.ts';
import { isConnectionLost } from './failure.ts';
import { lifeOn, readLife } from './life.ts';
import type { Link } from './link.ts';
import type { Tx } from './tx.ts';
import { txOn } from './tx.ts';
import { answerSoon, say } from './packet.ts';
import { WroteNothing } from './wrote-nothing.ts';

export const transactSql = {
  // And how far back the oldest transaction lies that was under way just before: whatever is older than
  // that ended before this one had its number, which the marks of quiet lanes rely on (`laneIsOlder`).
  // The message is for a transaction that writes nothing else, such as a repeated publish: its commit waits
  // for the standby as any other does, and so for all that it has found here (see `reach`).
  number: `
    select pg_current_xact_id()::text as xid, set_config('ringback.oldest_age',
      (pg_current_xact_id()::text::bigint
        - pg_snapshot_xmin(pg_current_snapshot())::text::bigint)::text, true),
      pg_logical_emit_message(true, 'ringback', '')`,
  // A number that was not given out yet comes from another server: this one never heard of it.
  status: `
    select case when $1::text::xid8 < pg_current_xact_id() then pg_xact_status($1::text::xid8)
      else 'aborted' end as status`,
  events: 'select count(*) as found from event where id = any($1::text[])',
  // A connection that is ended while its commit waits for a synchronous standby leaves it committed here,
  // for all to see, and maybe nowhere else: a failover then undid what was answered (found by trial). This
  // is a commit of its own, which waits until the standby has it and all before it.
  reach: "select pg_logical_emit_message(true, 'ringback', '')",
} as const;

/** Of a lane called `lane`: whether its row was committed before this transaction had its number. */
export const laneIsOlder =
  "age(lane.xmin) > nullif(current_setting('ringback.oldest_age', true), '')::bigint";

export interface TransactMeans {
  link: Link;
  world: Pick<World, 'monotonicMs' | 'sleep'>;
}

/**
 * The commit may or may not have happened, and the database could not be asked in time; or it has happened,
 * without a statement that was a part of it.
 */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown';
  readonly xid: string;

  constructor(xid: string, cause: unknown) {
    super('The outcome of a transaction is unknown', { cause });
    this.xid = xid;
  }
}

export interface Done<T> {
  result: T;
  /**
   * The result with the answers to the statements that were asked last: the commit leaves in one packet with
   * them. Whoever asked for them can do without, if the connection breaks there: `result` stands then.
   */
  whole?: Promise<T>;
  /**
   * Ids of events that the transaction makes. After a crash or a failover the number of a transaction may
   * belong to another one, so the events themselves are looked for. Where there are none nobody can tell: a
   * subscribe was answered with 201 that way, and was not there (found by trial).
   */
  written: readonly string[];
  /** Called when the commit has left, which nobody waits for: the server is still at it. */
  onLeft?: () => void;
}

export async function transact<T>(
  means: TransactMeans,
  body: (tx: Tx) => Promise<Done<T>>,
): Promise<T> {
  let commit: Committing<T> | undefined;
  try {
    return await means.link.withClient(async (client) => {
      const life = await lifeOn(client);
      const { xid, ...done } = await inside(client, body);
      commit = { ...done, life, xid };
      const ended = await commitOn(client, commit);
      if (ended.kind === 'committed') return ended.result;
      commit = undefined; // There is nothing to ask for.
      throw ended.cause;
    });
  } catch (error) {
    if (commit === undefined || !isConnectionLost(error)) throw error;
    return await askAfterwards(means, commit, error);
  }
}

/** In one packet with the first statement of the body, so that it costs no time of its own. */
export async function beginOn(client: Client): Promise<readonly Row[]> {
  const tx = txOn(client);
  tx.query('begin', []).catch(() => undefined); // What comes after it in the packet fails as well.
  const numbered = tx.query(transactSql.number, []);
  answerSoon(client); // Nothing is committed before the number is known.
  return numbered;
}

/**
 * After a statement that failed the server takes a commit for a rollback. A statement that failed before it
 * was sent is nothing that a server knows of: then something is written, and nobody can say what.
 */
async function commitOn<T>(
  client: Client,
  { result, whole, xid, onLeft }: Committing<T>,
): Promise<{ kind: 'committed'; result: T } | { kind: 'failed'; cause: unknown }> {
  const answered = Promise.allSettled([whole ?? result, say(client, 'commit')]);
  if (onLeft !== undefined) void endOfTurn().then(onLeft);
  const [last, ended] = await answered;
  if (ended.status === 'rejected') throw ended.reason;
  const isCommitted = ended.value.command === 'COMMIT';
  if (last.status === 'rejected') {
    const isKnown = !isCommitted || last.reason instanceof WroteNothing;
    const cause = isKnown ? last.reason : new OutcomeUnknown(xid, last.reason);
    return { kind: 'failed', cause };
  }
  if (isCommitted) return { kind: 'committed', result: last.value };
  return { kind: 'failed', cause: new Error('A transaction was rolled back without an error') };
}

interface Committing<T> extends Done<T> {
  /** Of the server, when it began. */
  life: string;
  xid: string;
}

async function inside<T>(
  client: Client,
  body: (tx: Tx) => Promise<Done<T>>,
): Promise<Done<T> & { xid: string }> {
  const numbered = beginOn(client);
  numbered.catch(() => undefined);
  try {
    const done = await body(txOn(client));
    done.whole?.catch(() => undefined); // Looked at with the commit.
    const [row] = await numbered;
    return { ...done, xid: text(one(row), 'xid') };
  } catch (error) {
    await say(client, 'rollback').catch(() => undefined); // The first error says what happened.
    await numbered; // When the begin has failed, that is why all the rest did.
    throw error;
  }
}

/** Nobody is answered before this is known; after some seconds the answer is that nobody knows. */
async function askAfterwards<T>(
  { link, world }: TransactMeans,
  commit: Committing<T>,
  cause: unknown,
): Promise<T> {
  const untilMs = world.monotonicMs() + limits.commitUnknownMs;
  for (;;) {
    const status = await link.use(async (tx) => statusOf(tx, commit)).catch(() => 'unknown');
    if (status === 'committed') return commit.result;
    if (status === 'aborted') throw cause;
    if (status === 'anybodys' || world.monotonicMs() >= untilMs) {
      throw new OutcomeUnknown(commit.xid, cause);
    }
    await world.sleep(limits.commitAskMs);
  }
}

/** `anybodys`: a transaction of that number was committed, in another life of the server. */
async function statusOf(
  tx: Tx,
  { xid, written, life }: Pick<Committing<unknown>, 'xid' | 'written' | 'life'>,
): Promise<string> {
  const [row] = await tx.query(transactSql.status, [xid]);
  const status = row?.['status'];
  if (status !== 'committed') {
    return typeof status === 'string' ? status : 'unknown'; // Also `in progress`: asked again.
  }
  if (written.length === 0) {
    if ((await readLife(tx)) !== life) return 'anybodys';
  } else {
    const [found] = await tx.query(transactSql.events, [written]);
    if (integer(one(found), 'found') !== written.length) return 'aborted';
  }
  await tx.query(transactSql.reach, []);
  return 'committed';
}
