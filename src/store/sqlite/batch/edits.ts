// All edits on a connection: those shared by both databases, run as scripts, and SQLite's own.
import type { DatabaseSync } from 'node:sqlite';
import type { EditCall } from '../../port/transport-protocol.ts';
import type { EditOutput, EditVerb } from '../../port/store.ts';
import type { SharedEdit } from '../../verbs/edits.ts';
import { editScript, isShared } from '../../verbs/edits.ts';
import type { Edit, EditContext } from '../transaction/edit.ts';
import type { KeepFigures } from './write-statistics.ts';
import { prepareTidyFigures } from '../upkeep/tidy-statistics.ts';
import {
  prepareHeartbeat,
  prepareRescue,
  prepareStartNode,
  prepareStopNode,
} from '../deliver/nodes.ts';
import { preparePublish } from '../publish/publish.ts';
import type { StalledFanOuts } from '../../rules/stalled-fan-outs.ts';
import { prepareRetain } from '../upkeep/retain.ts';
import { prepareScripts } from '../transaction/run-script.ts';
import { prepareSweep } from '../upkeep/sweep.ts';

type OwnEdit = Exclude<EditVerb, SharedEdit>;
type OwnEdits = { [V in OwnEdit]: Edit<V> };

export type ApplyEdit = (call: EditCall, context: EditContext) => EditOutput<EditVerb>;

interface EditDeps {
  keep: KeepFigures;
  aside: StalledFanOuts;
}

export function prepareEdits(db: DatabaseSync, deps: EditDeps): ApplyEdit {
  const runScript = prepareScripts(db);
  const own = ownEdits(db, deps);
  return (call, context) =>
    isShared(call)
      ? runScript(editScript(call, context.nowMs, context.facts))
      : applyOwn(own, call, context);
}

function applyOwn<V extends OwnEdit>(
  edits: OwnEdits,
  call: EditCall<V>,
  context: EditContext,
): EditOutput<V> {
  return edits[call.verb](call.input, context);
}

function ownEdits(db: DatabaseSync, { keep, aside }: EditDeps): OwnEdits {
  return {
    publish: preparePublish(db),
    sweep: prepareSweep(db),
    retain: prepareRetain(db, aside),
    startNode: prepareStartNode(db),
    heartbeat: prepareHeartbeat(db),
    stopNode: prepareStopNode(db),
    rescue: prepareRescue(db),
    keepFigures: ({ limit }) => keep(limit),
    tidyFigures: prepareTidyFigures(db),
    // No other process can write to this database, so its inbox is always empty.
    takeInbox: () => ({ entries: [] }),
    rejectInbox: () => ({ kind: 'taken' }),
  };
}
