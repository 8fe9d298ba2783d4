// Checks all invariants.
import {
  judgeBarriers,
  judgeDuplicates,
  judgeLateness,
  judgeOrder,
  judgeRequests,
  judgeSchedule,
} from './attempts.ts';
import { judgeAccounts, judgeDelivered, judgeTerminal } from './ends.ts';
import { judgeKeys, judgeLoss, judgePhantoms } from './events.ts';
import type { Flaw, History } from './history.ts';
import { judgeConcurrency, judgeRate } from './pace.ts';
import { judgeReplays } from './replays.ts';

export function judge(history: History): Flaw[] {
  return [
    judgeLoss,
    judgePhantoms,
    judgeDelivered,
    judgeTerminal,
    judgeDuplicates,
    judgeRequests,
    judgeSchedule,
    judgeLateness,
    judgeBarriers,
    judgeOrder,
    judgeKeys,
    judgeAccounts,
    judgeReplays,
    judgeRate,
    judgeConcurrency,
  ].flatMap((one) => one(history));
}
