// All edits on a connection: those that both databases share, run as scripts, and SQLite's own.
import type { DatabaseSync } from 'node:sqlite';
import type { EditCall } from '../call.ts';
import type { EditInput, EditOutput, EditVerb } from '../store.ts';
import type { SharedEdit } from '../verbs/edits.ts';
import { sharedEdits } from '../verbs/edits.ts';
import type { Edit as EditScript } from '../verbs/verb.ts';
import type { Edit, EditContext } from './edit.ts';
import { prepareHeartbeat, prepareRescue, prepareStartNode, prepareStopNode } from './nodes.ts';
import { preparePublish } from './publish.ts';
import { prepareRetain } from './retain.ts';
import type { RunScript } from './run-script.ts';
import { prepareScripts } from './run-script.ts';
import { prepareSweep } from './sweep.ts';

type OwnEdits = { [V in Exclude<EditVerb, SharedEdit>]: Edit<V> };

export type ApplyEdit = (call: EditCall, context: EditContext) => EditOutput<EditVerb>;

export function prepareEdits(db: DatabaseSync): ApplyEdit {
  const runScript = prepareScripts(db);
  const edits = { ...ownEdits(db), ...scripted(runScript) };
  return (call, context) => applyTo(edits, call, context);
}

type EditTable = { [V in EditVerb]: Edit<V> };

function applyTo<V extends EditVerb>(
  edits: EditTable,
  call: EditCall<V>,
  context: EditContext,
): EditOutput<V> {
  return edits[call.verb](call.input, context);
}

function ownEdits(db: DatabaseSync): OwnEdits {
  return {
    publish: preparePublish(db),
    sweep: prepareSweep(db),
    retain: prepareRetain(db),
    startNode: prepareStartNode(db),
    heartbeat: prepareHeartbeat(db),
    stopNode: prepareStopNode(db),
    rescue: prepareRescue(db),
    // Nobody else can write into this database, so nothing ever waits in its inbox.
    takeInbox: () => ({ entries: [] }),
    rejectInbox: () => ({ kind: 'taken' }),
  };
}

function scripted(runScript: RunScript): { [V in SharedEdit]: Edit<V> } {
  const on = <V extends SharedEdit>(script: EditScript<V>): Edit<V> => {
    return (input: EditInput<V>, { nowMs }) => runScript(script(input, nowMs));
  };
  return {
    createApp: on(sharedEdits.createApp),
    createKey: on(sharedEdits.createKey),
    rotateKey: on(sharedEdits.rotateKey),
    revokeKey: on(sharedEdits.revokeKey),
    touchKeys: on(sharedEdits.touchKeys),
    subscribe: on(sharedEdits.subscribe),
    unsubscribe: on(sharedEdits.unsubscribe),
    editSubscription: on(sharedEdits.editSubscription),
    keepSetting: on(sharedEdits.keepSetting),
    forget: on(sharedEdits.forget),
    retryDelivery: on(sharedEdits.retryDelivery),
  };
}
