// Counts the situations that a run has met, from its history.
import { isMeant } from '../invariants/events.ts';
import type { History } from '../invariants/history.ts';
import { countCapped, countLimited } from '../invariants/pace.ts';
import type { Counters } from './counters.ts';

export function countEnds(counters: Counters, history: History): void {
  const { deliveries, sends, subscriptions, publishes, log, replays } = history;
  for (const { state } of deliveries) if (state !== 'pending') counters[state] += 1;
  const ordered = new Set(subscriptions.flatMap(({ id, isOrdered }) => (isOrdered ? [id] : [])));
  const taken = new Set<string>();
  for (const { delivery, reply = 0, startedMs, subscription } of sends) {
    if (reply >= 400 && ordered.has(subscription)) counters.orderedFailures += 1;
    if (startedMs !== undefined && taken.has(delivery)) counters.duplicates += 1;
    if (reply >= 200 && reply <= 299) taken.add(delivery);
  }
  for (const { name, kind } of publishes) {
    for (const { hears, kinds } of subscriptions) {
      const isHeard = isMeant({ hears, kinds: undefined }, { name, kind });
      if (isHeard && !isMeant({ hears, kinds }, { name, kind })) counters.filteredOut += 1;
    }
  }
  counters.replays += replays.length;
  counters.replayed += replays.reduce((sum, { replayed }) => sum + replayed, 0);
  counters.rateLimited += countLimited(history);
  counters.capped += countCapped(history);
  counters.fanOuts += log.filter(({ what }) => what === 'fan-out').length;
}
