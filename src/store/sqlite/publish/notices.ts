// Writes notices of dead deliveries, if any callback is subscribed to them.
import type { DatabaseSync } from 'node:sqlite';
import type { DeadDelivery } from '../../verbs/shared/notices.ts';
import { noticesOfDead, writeNotice } from '../../verbs/shared/notices.ts';
import { prepareScripts } from '../transaction/run-script.ts';

export type NoticeDead = (dead: readonly DeadDelivery[], nowMs: number) => void;

export function prepareNoticeDead(db: DatabaseSync): NoticeDead {
  const runScript = prepareScripts(db);
  return (dead, nowMs) => {
    for (const notice of runScript(noticesOfDead(dead, nowMs)))
      runScript(writeNotice(notice, nowMs));
  };
}
