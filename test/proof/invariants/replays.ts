// Replays: every matching delivery that had ended when the replay was created is sent again once, unless its
// subscription has ended, and nothing else is. This must hold even if nodes die meanwhile.
import { endingOf } from './ends.ts';
import type { DeliveryRow, Flaw, History, ReplayRow } from './history.ts';
import { nameOf, stepsOf } from './sent-again.ts';

/** I1, I4, I13 and I14 for replays. */
export function judgeReplays(history: History): Flaw[] {
  const { replays, replaysAsked } = history;
  const flaws: Flaw[] = [];
  const flaw = (invariant: string, what: string): void => void flaws.push({ invariant, what });
  const there = new Set(replays.map(({ id }) => `rpl_${id}`));
  for (const { key, ids } of replaysAsked) {
    if (ids.size > 1) flaw('I13', `${key} was acknowledged as ${[...ids].join()}`);
    for (const id of ids) if (!there.has(id)) flaw('I1', `${id} was acknowledged and is lost`);
  }
  if (replays.length > replaysAsked.length) {
    flaw(
      'I13',
      `${replays.length} replays were created, but only ${replaysAsked.length} requested`,
    );
  }
  const promises = followed(history, flaw);
  const ending = endingOf(history);
  // If a subscribe got no response, it is unknown when that subscription ended.
  const known = new Set(history.subscriptions.map(({ id }) => id));
  for (const replay of replays) {
    const promise = promises.get(replay.id);
    const id = `rpl_${replay.id}`;
    if (replay.state === 'running') flaw('I1', `${id} has not ended`);
    const sent = promise?.sent.size;
    if (replay.replayed !== sent) flaw('I14', `${id} counts ${replay.replayed}, and sent ${sent}`);
    if (replay.state !== 'done') continue;
    for (const [name, { subscription }] of promise?.open ?? []) {
      if (known.has(subscription) && !ending.has(subscription))
        flaw('I1', `${id} has never sent ${name} again`);
    }
  }
  return flaws;
}

interface Promised {
  replay: ReplayRow;
  /** Deliveries that had ended when it was created, and have not been sent again yet. */
  open: Map<string, Ended>;
  sent: Set<string>;
}

interface Ended {
  name: string;
  event: string;
  subscription: string;
  state: DeliveryRow['state'];
  endedMs: number;
}

type Say = (invariant: string, what: string) => void;

/** Goes through the log, and tracks the deliveries of every replay. */
function followed(history: History, flaw: Say): Map<string, Promised> {
  const rowOf = new Map(history.deliveries.map((row) => [row.id, row]));
  const replayOf = new Map(history.replays.map((replay) => [replay.id, replay]));
  const fits = fitsOf(history);
  const ended = new Map<string, Ended>();
  const promises = new Map<string, Promised>();
  const steps = stepsOf(history.log);
  let left: Ended | undefined;
  for (const row of history.log) {
    const { what, event, a, b } = row;
    const name = nameOf(row);
    const step = promises.get(steps.get(row) ?? '');
    const subscription = rowOf.get(name)?.subscription ?? '';
    switch (what) {
      case 'ended': {
        const state = endStates[a] ?? 'pending';
        ended.set(name, { name, event: `evt_${event}`, subscription, state, endedMs: b });
        break;
      }
      case 'left':
        left = ended.get(name);
        ended.delete(name);
        // Another retry or replay was faster: the delivery is pending again.
        for (const promise of promises.values()) if (promise !== step) promise.open.delete(name);
        break;
      case 'replay': {
        const replay = replayOf.get(event);
        if (replay === undefined) break;
        const open = new Map([...ended].filter(([, one]) => fits(replay, one)));
        promises.set(event, { replay, open, sent: new Set() });
        break;
      }
      case 'made': {
        if (step === undefined) break;
        const { replay, open, sent } = step;
        const revived = left?.name === name ? left : undefined;
        const isSource = (one: Ended): boolean =>
          one.state !== 'dead' && one.event === `evt_${event}` && one.subscription === subscription;
        // Deliveries that ended in the same millisecond, or before the clock was set back, may be included.
        const isLate = (one: Ended): boolean => !sent.has(one.name) && fits(replay, one);
        const source = revived
          ? [revived].find((one) => open.has(one.name) || isLate(one))
          : ([...open.values()].find(isSource) ??
            [...ended.values()].find((one) => isSource(one) && isLate(one)));
        sent.add(source?.name ?? name);
        open.delete(source?.name ?? '');
        if (source === undefined)
          flaw('I4', `${name} was sent by rpl_${replay.id} without a source`);
        break;
      }
    }
  }
  return promises;
}

function fitsOf({ events }: History): (replay: ReplayRow, one: Ended) => boolean {
  const nameOfEvent = new Map(events.map(({ id, name }) => [id, name]));
  return (replay, one) =>
    one.endedMs <= replay.createdMs &&
    (replay.wanted === 'ended' || one.state === replay.wanted) &&
    (replay.subscriberId ?? one.subscription) === one.subscription &&
    (replay.event ?? nameOfEvent.get(one.event)) === nameOfEvent.get(one.event);
}

const endStates = ['pending', 'delivered', 'dead', 'cancelled'] as const;
