// Dispatches all edits but publish: those that both databases share run as scripts, the others are
// PostgreSQL's own.
import type { EditCall } from '../../port/transport-protocol.ts';
import type { EditOutput, EditVerb } from '../../port/store.ts';
import { editScript, isShared } from '../../verbs/edits.ts';
import { advanceReplay } from '../upkeep/advance-replay.ts';
import { forget, forgetFeed, forgetPatterns } from '../upkeep/forget.ts';
import type { FigureContext } from '../upkeep/write-statistics.ts';
import { keepFigures } from '../upkeep/write-statistics.ts';
import { rejectInbox, takeInbox } from '../publish/inbox.ts';
import type { GivenMs } from '../cluster/nodes.ts';
import { heartbeat, rescue, startNode, stopNode } from '../cluster/nodes.ts';
import type { PublishContext } from '../publish/publish.ts';
import { publishAll } from '../publish/publish.ts';
import type { Sweep } from '../upkeep/sweep.ts';
import { tidyFigures } from '../upkeep/tidy-statistics.ts';
import type { Tx } from '../connection/tx.ts';

export interface EditContext extends PublishContext, FigureContext {
  givenMs: GivenMs;
  sweep: Sweep;
}

export async function applyEdit(
  tx: Tx,
  call: EditCall,
  context: EditContext,
): Promise<EditOutput<EditVerb>> {
  const { nowMs, givenMs, facts, gathered } = context;
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
    case 'keepFigures':
      return keepFigures(tx, gathered, call.input.limit);
    case 'tidyFigures':
      return tidyFigures(tx, call.input, nowMs);
    case 'retain':
      throw new Error('Cannot retain in a batch: it has a way of its own');
  }
}
