// A batch of edits in one transaction: publishes that stand side by side go down together, everything
// else one after the other, in the order of the calls.
import type { EditCall, EditReply } from '../call.ts';
import type { Born, Offer, Outlook } from '../delivery-verbs.ts';
import { birthsFor } from '../slots.ts';
import type { EditOutput, EditVerb } from '../store.ts';
import type { EditContext } from './edits.ts';
import { applyEdit } from './edits.ts';
import { lockInOrder } from './lock-order.ts';
import { isFanningOut, nextReadyMs } from './outlook.ts';
import type { Publish } from './publish.ts';
import { publishAll } from './publish.ts';
import type { Way } from './savepoint.ts';
import { inSavepoint } from './savepoint.ts';
import type { Tx } from './tx.ts';

export interface WriteInput {
  edits: readonly EditCall[];
  offer: Offer | undefined;
  context: Omit<EditContext, 'births' | 'left'>;
}

export interface Written {
  replies: EditReply[];
  born: readonly Born[];
  outlook: Outlook;
  left: EditContext['left'];
}

/** `alone`: each edit by itself, so that one that breaks a rule takes no other with it. */
export async function writeBatch(
  tx: Tx,
  { edits, offer, context }: WriteInput,
  way: Way,
): Promise<Written> {
  // Of edits that run alone one may be undone after a birth; so then nothing is born leased.
  const births = birthsFor(way === 'together' ? offer : undefined);
  const whole: EditContext = { ...context, births, left: { waiting: 0, fanOuts: 0 } };
  const replies = await (way === 'together'
    ? applyRuns(tx, edits, whole)
    : applyEach(tx, edits, whole));
  const [readyMs, isMore] = await Promise.all([nextReadyMs(tx, births.slots), isFanningOut(tx)]);
  const outlook = { readyMs, isFanningOut: isMore };
  return { replies, born: births.born, outlook, left: whole.left };
}

async function applyRuns(
  tx: Tx,
  edits: readonly EditCall[],
  context: EditContext,
): Promise<EditReply[]> {
  const replies: EditReply[] = [];
  for (const run of runsOf(edits)) {
    const publishes = run.flatMap((call): Publish[] =>
      call.verb === 'publish' ? [call.input] : [],
    );
    const outputs =
      publishes.length > 0
        ? await publishAll(tx, publishes, context)
        : await inTurn(tx, run, context);
    replies.push(...outputs.map((output): EditReply => ({ kind: 'done', output })));
  }
  return replies;
}

/** Publishes that stand side by side, and what stands between them. */
function runsOf(edits: readonly EditCall[]): EditCall[][] {
  const runs: EditCall[][] = [];
  for (const edit of edits) {
    const last = runs.at(-1);
    const isAlike = (last?.[0]?.verb === 'publish') === (edit.verb === 'publish');
    if (last !== undefined && isAlike) last.push(edit);
    else runs.push([edit]);
  }
  return runs;
}

async function inTurn(
  tx: Tx,
  run: readonly EditCall[],
  context: EditContext,
): Promise<EditOutput<EditVerb>[]> {
  await lockInOrder(tx, run);
  const outputs: EditOutput<EditVerb>[] = [];
  for (const call of run) outputs.push(await applyEdit(tx, call, context));
  return outputs;
}

async function applyEach(
  tx: Tx,
  edits: readonly EditCall[],
  context: EditContext,
): Promise<EditReply[]> {
  await lockInOrder(tx, edits);
  const replies: EditReply[] = [];
  for (const call of edits) {
    replies.push(await inSavepoint(tx, call.verb, async () => applyEdit(tx, call, context)));
  }
  return replies;
}
