// Runs a batch of edits in one transaction. Neighbouring publishes are written together, and so are neighbouring
// subscribes, confirmations and unsubscribes; other edits run one at a time, in the order of the calls, until the time limit of a batch.
// connection/transact.ts begins and commits; batch/persist.ts repeats a batch that failed.
import type { World } from '../../../core/base/world.ts';
import { limits } from '../../../core/limits/limits.ts';
import type { FreshDelivery, Offer, NextWork } from '../../port/delivery-verbs.ts';
import type { EditInput, EditOutput, EditVerb } from '../../port/store.ts';
import type { Batch, EditCall, EditReply } from '../../port/transport-protocol.ts';
import { insertLeasesFor } from '../../rules/offer-slots.ts';
import type { StalledFanOuts } from '../../rules/fan-outs.ts';
import type { Fact } from '../../statistics/transaction-facts.ts';
import { editScript, isShared } from '../../verbs/edits.ts';
import { confirmSubscription } from '../../verbs/subscriptions/confirm-subscription.ts';
import { heartbeat, rescue, startNode, stopNode, type TestTimeMs } from '../cluster/nodes.ts';
import { inSavepoint, type BatchMode, type Tx } from '../connection/tx.ts';
import type { Done } from '../connection/transact.ts';
import { findNextWork, withNextWork } from '../deliver/next-work.ts';
import { isInboxEmpty, rejectInbox, takeInbox } from '../publish/inbox.ts';
import { publishAll, type PublishContext } from '../publish/publish.ts';
import { advanceReplay } from '../upkeep/advance-replay.ts';
import { forget, forgetFeed, forgetPatterns } from '../upkeep/forget.ts';
import type { Sweep } from '../upkeep/sweep.ts';
import {
  tidyStatistics,
  writeStatistics,
  keepStatistics,
  type StatisticsContext,
} from '../upkeep/statistics.ts';
import { writeAudits } from '../shared/audit.ts';
import { lockFanOuts, lockInOrder } from '../shared/lock-order.ts';
import { confirmAll, isPlain } from '../subscribe/confirm-all.ts';
import { subscribeAll, unsubscribeAll } from '../subscribe/subscribe-all.ts';

export interface WriteInput {
  edits: readonly EditCall[];
  offer: Offer | undefined;
  /** Fan-outs that are skipped. */
  stalled: StalledFanOuts;
  /** By which the time of a batch counts. */
  world: Pick<World, 'monotonicMs'>;
  context: Omit<EditContext, 'insertLeases' | 'left' | 'facts'>;
}

export interface Written {
  replies: EditReply[];
  fresh: readonly FreshDelivery[];
  nextWork: NextWork;
  left: EditContext['left'];
  /** The facts that were counted. */
  facts: readonly Fact[];
}

/**
 * `alone`: each edit in a savepoint, so that one that breaks a constraint does not fail the others.
 */
export async function writeBatch(
  tx: Tx,
  { edits, offer, stalled, world, context }: WriteInput,
  mode: BatchMode,
): Promise<Done<Written>> {
  // If edits run alone, a later rollback may undo an insert, so nothing is inserted already leased.
  const insertLeases = insertLeasesFor(mode === 'together' ? offer : undefined);
  const facts: Fact[] = [];
  const isAlike = mode === 'together' && edits.every(({ verb }) => verb === 'publish');
  const listenerCache = isAlike ? context.listenerCache : undefined;
  const left = { waiting: 0, fanOuts: 0 };
  const within: EditContext = { ...context, listenerCache, insertLeases, facts, left };
  const untilMs = world.monotonicMs() + limits.batchEditsMs;
  const isInTime = (): boolean => world.monotonicMs() < untilMs;
  await lockFanOuts(tx, edits);
  const { replies, answered } = await (mode === 'together'
    ? applyRuns(tx, edits, within, isInTime)
    : applyEach(tx, edits, within, isInTime));
  const asked = Promise.all([
    findNextWork(tx, insertLeases.slots, stalled),
    writeStatistics(tx, within),
    writeAudits(tx, { edits, replies }, context.nowMs),
    answered,
  ]);
  const ended = withNextWork(
    asked.then(([nextWork]) => nextWork),
    context.nowMs,
    (nextWork): Written => ({
      replies,
      fresh: insertLeases.fresh,
      nextWork,
      left: within.left,
      facts,
    }),
  );
  return { ...ended, written: acceptedIds(replies) };
}

/**
 * The result of a batch that only polls an empty inbox, as every node does several times a second,
 * or that writes figures when there are none. It needs no transaction, which would be a commit to
 * disk each time.
 */
export async function findsNothingNew(tx: Tx, input: WriteInput): Promise<Written | undefined> {
  const { edits, offer, stalled, context } = input;
  if (context.pending.isEmpty() && edits.every(({ verb }) => verb === 'keepStatistics')) {
    const output = { written: 0, isMore: false };
    return nothingNew(input, output, await findNextWork(tx, insertLeasesFor(offer).slots, stalled));
  }
  const asked = edits.flatMap((call) => (call.verb === 'takeInbox' ? [call.input.forMs] : []));
  if (asked.length === 0 || asked.length < edits.length) return undefined;
  const insertLeases = insertLeasesFor(offer);
  const [isEmpty, nextWork] = await Promise.all([
    isInboxEmpty(tx, { forMs: Math.min(...asked) }, context.nowMs),
    findNextWork(tx, insertLeases.slots, stalled),
  ]);
  if (!isEmpty) return undefined;
  return nothingNew(input, { entries: [] }, nextWork);
}

function nothingNew(
  { edits }: WriteInput,
  output: EditOutput<EditVerb>,
  nextWork: NextWork,
): Written {
  const replies = edits.map((): EditReply => ({ kind: 'done', output }));
  return { replies, fresh: [], nextWork, left: { waiting: 0, fanOuts: 0 }, facts: [] };
}

interface Applied {
  replies: EditReply[];
  /** The last statements: if they reject, the replies do not count. */
  answered: Promise<unknown>;
}

/** Gives no replies for the last edits, where the time did not suffice for them. */
async function applyRuns(
  tx: Tx,
  edits: readonly EditCall[],
  context: EditContext,
  isInTime: () => boolean,
): Promise<Applied> {
  const replies: EditReply[] = [];
  let answered: Promise<unknown> = Promise.resolve();
  for (const run of runsOf(edits)) {
    await answered;
    if (replies.length > 0 && !isInTime()) break;
    let outputs: readonly EditOutput<EditVerb>[];
    const { publishes, subscribes, unsubscribes, confirmations } = alikeIn(run);
    if (publishes.length > 0) {
      ({ replies: outputs, answered } = await publishAll(tx, publishes, context));
    } else if (subscribes.length > 0) {
      outputs = await subscribeAll(tx, subscribes, context.nowMs);
    } else if (unsubscribes.length > 0) {
      outputs = await unsubscribeAll(tx, unsubscribes, context.nowMs);
    } else if (confirmations.length > 0) {
      const { nowMs, facts } = context;
      outputs = await confirmAll(tx, confirmations, {
        nowMs,
        confirmOne: async (input) => tx.run(confirmSubscription(input, nowMs, facts)),
      });
    } else outputs = await inTurn(tx, run, context, isInTime);
    replies.push(...outputs.map((output): EditReply => ({ kind: 'done', output })));
    if (outputs.length < run.length) break;
  }
  return { replies, answered };
}

/** Splits the edits into runs of neighbours: of one verb that is written together, or of all other edits. */
function runsOf(edits: readonly EditCall[]): EditCall[][] {
  const runs: EditCall[][] = [];
  for (const edit of edits) {
    const last = runs.at(-1);
    const [first] = last ?? [];
    if (last !== undefined && first !== undefined && runOf(first) === runOf(edit)) last.push(edit);
    else runs.push([edit]);
  }
  return runs;
}

/** A subscription that replaces another is written alone: it reads and ends the other first. */
function runOf(call: EditCall): EditVerb | 'other' {
  const { verb } = call;
  if (call.verb === 'subscribe' && call.input.subscription.resource !== undefined) return 'other';
  if (call.verb === 'confirmSubscription' && !isPlain(call.input)) return 'other';
  return writtenTogether.has(verb) ? verb : 'other';
}

const writtenTogether: ReadonlySet<EditVerb> = new Set([
  'publish',
  'subscribe',
  'unsubscribe',
  'confirmSubscription',
]);

/** The inputs of a run, under the name of their verb. */
function alikeIn(run: readonly EditCall[]): {
  publishes: EditInput<'publish'>[];
  subscribes: EditInput<'subscribe'>[];
  unsubscribes: EditInput<'unsubscribe'>[];
  confirmations: EditInput<'confirmSubscription'>[];
} {
  return {
    publishes: run.flatMap((call) => (call.verb === 'publish' ? [call.input] : [])),
    subscribes: run.flatMap((call) =>
      call.verb === 'subscribe' && runOf(call) === 'subscribe' ? [call.input] : [],
    ),
    unsubscribes: run.flatMap((call) => (call.verb === 'unsubscribe' ? [call.input] : [])),
    confirmations: run.flatMap((call) =>
      call.verb === 'confirmSubscription' && isPlain(call.input) ? [call.input] : [],
    ),
  };
}

async function inTurn(
  tx: Tx,
  run: readonly EditCall[],
  context: EditContext,
  isInTime: () => boolean,
): Promise<EditOutput<EditVerb>[]> {
  await lockInOrder(tx, run);
  const outputs: EditOutput<EditVerb>[] = [];
  for (const call of run) {
    if (outputs.length > 0 && !isInTime()) break;
    outputs.push(await applyEdit(tx, call, context));
  }
  return outputs;
}

async function applyEach(
  tx: Tx,
  edits: readonly EditCall[],
  context: EditContext,
  isInTime: () => boolean,
): Promise<Applied> {
  await lockInOrder(tx, edits);
  const replies: EditReply[] = [];
  for (const call of edits) {
    if (replies.length > 0 && !isInTime()) break;
    const before = context.facts.length;
    const reply = await inSavepoint(tx, call.verb, async () => applyEdit(tx, call, context));
    if (reply.kind === 'failed') context.facts.length = before; // They were rolled back.
    replies.push(reply);
  }
  return { replies, answered: Promise.resolve() };
}

function acceptedIds(replies: readonly EditReply[]): string[] {
  return replies.flatMap((reply) => {
    if (reply.kind !== 'done' || !('kind' in reply.output)) return [];
    const { output } = reply;
    return output.kind === 'accepted' ? output.events.map(({ id }) => id) : [];
  });
}

/** Edits after which other nodes may have something to claim. */
const wakers: ReadonlySet<string> = new Set(['retryDelivery', 'editSubscription', 'rescue']);

export function isWorthNotifying({ left }: Written, { edits }: Batch): boolean {
  if (left.waiting > 0 || left.fanOuts > 0) return true;
  return edits.some(({ verb }) => wakers.has(verb));
}

// Dispatches all edits but publish: those that both databases share run as scripts, the others are
// PostgreSQL's own.

interface EditContext extends PublishContext, StatisticsContext {
  givenMs: TestTimeMs;
  sweep: Sweep;
}

async function applyEdit(
  tx: Tx,
  call: EditCall,
  context: EditContext,
): Promise<EditOutput<EditVerb>> {
  const { nowMs, givenMs, facts, pending } = context;
  if (call.verb === 'forget') return forget(tx, call.input);
  if (call.verb === 'forgetPatterns') return forgetPatterns(tx, call.input);
  if (call.verb === 'forgetFeed') return forgetFeed(tx, call.input);
  if (call.verb === 'advanceReplay') return advanceReplay(tx, call.input, context);
  if (isShared(call)) return tx.run(editScript(call, nowMs, facts));
  switch (call.verb) {
    case 'publish': {
      const { replies, answered } = await publishAll(tx, [call.input], context);
      await answered;
      const [output] = replies;
      if (output === undefined) throw new Error('Cannot publish: there is no answer');
      return output;
    }
    case 'startNode':
      return startNode(tx, call.input, givenMs);
    case 'heartbeat':
      return heartbeat(tx, call.input, givenMs);
    case 'stopNode':
      return stopNode(tx, call.input);
    case 'rescue':
      return rescue(tx, call.input, { givenMs, nowMs });
    case 'takeInbox':
      return takeInbox(tx, call.input, nowMs);
    case 'rejectInbox':
      return rejectInbox(tx, call.input, context);
    case 'sweep':
      return context.sweep(tx, call.input, context);
    case 'keepStatistics':
      return keepStatistics(tx, pending, call.input.limit);
    case 'tidyStatistics':
      return tidyStatistics(tx, call.input, nowMs);
    case 'retain':
      throw new Error('Cannot retain in a batch: the adapter runs it on a connection of its own');
  }
}
