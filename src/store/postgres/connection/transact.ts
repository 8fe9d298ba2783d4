// Runs one transaction from `begin` to a commit whose outcome is known. If the connection breaks at
// the commit, the outcome is open, and the database is asked over a new connection.
import type { Client } from 'pg';
import type { World } from '../../../core/base/world.ts';
import { limits } from '../../../core/limits/limits.ts';
import { integer, one, text, type Row } from '../../sql/row.ts';
import { isConnectionLost, WroteNothing } from './failure.ts';
import { flushResponses, sendText } from './pipeline.ts';
import type { ReconnectingClient } from './reconnecting-client.ts';
import { txOn, type Tx } from './tx.ts';

export const transactSql = {
  // Also records the age of the oldest transaction that was running: everything older had ended
  // before this one got its id, which the marks of quiet lanes rely on (`laneIsOlder`). The message
  // makes a transaction that writes nothing else, such as a repeated publish, wait for a
  // synchronous standby at its commit, and so for everything that it has read (see `reach`).
  number: `
    select pg_current_xact_id()::text as xid, set_config('ringback.oldest_age',
      (pg_current_xact_id()::text::bigint
        - pg_snapshot_xmin(pg_current_snapshot())::text::bigint)::text, true),
      pg_logical_emit_message(true, 'ringback', '')`,
  // An id that was not assigned yet comes from another server: this one does not know the
  // transaction.
  status: `
    select case when $1::text::xid8 < pg_current_xact_id() then pg_xact_status($1::text::xid8)
      else 'aborted' end as status`,
  events: 'select count(*) as found from event where id = any($1::text[])',
  // If a connection ends while its commit waits for a synchronous standby, the transaction is
  // committed and visible on the primary, but perhaps not on the standby: a failover would then
  // undo what was answered. This statement is a commit of its own, which waits until the standby
  // has it and everything before it.
  reach: "select pg_logical_emit_message(true, 'ringback', '')",
} as const;

/** For a row called `lane`: whether it was committed before this transaction got its id. */
export const laneIsOlder =
  "age(lane.xmin) > nullif(current_setting('ringback.oldest_age', true), '')::bigint";

export interface TransactDeps {
  link: ReconnectingClient;
  world: Pick<World, 'monotonicMs' | 'sleep'>;
}

/**
 * It is unknown whether the commit happened, and the database could not be asked in time; or it
 * happened without a statement that belongs to it.
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
   * The result including the last statements, which are sent in one pipeline with the commit. If the
   * connection breaks there, the caller can do without them and gets `result`.
   */
  whole?: Promise<T>;
  /**
   * Ids of the events that the transaction inserts. After a crash or a failover the id of a
   * transaction may be reused, so the events themselves are looked up. Without events the outcome
   * cannot be determined.
   */
  written: readonly string[];
}

export async function transact<T>(
  deps: TransactDeps,
  body: (tx: Tx) => Promise<Done<T>>,
): Promise<T> {
  let commit: Committing<T> | undefined;
  try {
    return await deps.link.withClient(async (client) => {
      const epoch = await epochOn(client);
      const { xid, ...done } = await inside(client, body);
      commit = { ...done, epoch, xid };
      const ended = await commitOn(client, commit);
      if (ended.kind === 'committed') return ended.result;
      commit = undefined; // The outcome is known.
      throw ended.cause;
    });
  } catch (error) {
    if (commit === undefined || !isConnectionLost(error)) throw error;
    return await checkOutcome(deps, commit, error);
  }
}

/**
 * Sent in one pipeline with the first statement of the body, so that it costs no extra round trip.
 */
export async function beginOn(client: Client): Promise<readonly Row[]> {
  const tx = txOn(client);
  tx.query('begin', []).catch(() => undefined); // Statements behind it in the pipeline fail as well.
  const numbered = tx.query(transactSql.number, []);
  flushResponses(client); // The commit must wait for the transaction id.
  return numbered;
}

/**
 * After a failed statement the server turns a commit into a rollback. But a statement that failed
 * before it was sent is unknown to the server: then the commit may have written a part, and the
 * outcome is unknown.
 */
async function commitOn<T>(
  client: Client,
  { result, whole, xid }: Committing<T>,
): Promise<{ kind: 'committed'; result: T } | { kind: 'failed'; cause: unknown }> {
  const [last, ended] = await Promise.allSettled([whole ?? result, sendText(client, 'commit')]);
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
  /** The life of the server when the transaction began. */
  epoch: string;
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
    done.whole?.catch(() => undefined); // Awaited with the commit.
    const [row] = await numbered;
    return { ...done, xid: text(one(row), 'xid') };
  } catch (error) {
    await sendText(client, 'rollback').catch(() => undefined); // The first error is the one to report.
    await numbered; // If the begin failed, its error is the cause of the others.
    throw error;
  }
}

/** No reply is sent before the outcome is known; after some seconds it is reported as unknown. */
async function checkOutcome<T>(
  { link, world }: TransactDeps,
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

/** `anybodys`: a transaction with that id was committed, but in another life of the server. */
async function statusOf(
  tx: Tx,
  { xid, written, epoch }: Pick<Committing<unknown>, 'xid' | 'written' | 'epoch'>,
): Promise<string> {
  const [row] = await tx.query(transactSql.status, [xid]);
  const status = row?.['status'];
  if (status !== 'committed') {
    return typeof status === 'string' ? status : 'unknown'; // `in progress` too: the caller asks again.
  }
  if (written.length === 0) {
    if ((await readEpoch(tx)) !== epoch) return 'anybodys';
  } else {
    const [found] = await tx.query(transactSql.events, [written]);
    if (integer(one(found), 'found') !== written.length) return 'aborted';
  }
  await tx.query(transactSql.reach, []);
  return 'committed';
}

// Identifies the life of the server that a connection belongs to. A crash or a failover begins a
// new life, in which transaction ids of the last one may be reused.

export const epochSql = {
  read: 'select id from life where no = 1',
  begin: `
    insert into life (no, id) values (1, gen_random_uuid()::text) on conflict (no) do nothing`,
} as const;

const lives = new WeakMap<Client, string>();

/** Read once per connection: no connection outlives the life that it began in. */
export async function epochOn(client: Client): Promise<string> {
  const epoch = lives.get(client) ?? (await readEpoch(txOn(client)));
  lives.set(client, epoch);
  return epoch;
}

/** The first reader in a new life creates its id. */
export async function readEpoch(tx: Tx): Promise<string> {
  const [known] = await tx.query(epochSql.read, []);
  if (known !== undefined) return text(known, 'id');
  await tx.query(epochSql.begin, []);
  const [begun] = await tx.query(epochSql.read, []);
  return text(one(begun), 'id');
}
