// I1, I2, I13: every acknowledged event is stored once, unchanged, with a delivery for each matching subscription.
import type { Flaw, History, Publish, Subscribed } from './history.ts';
import { sentAgain } from './sent-again.ts';

/** I1: no loss after an acknowledgement. */
export function judgeLoss(history: History): Flaw[] {
  const { publishes, subscriptions, events, deliveries, redriven } = history;
  const flaws: string[] = [];
  const kept = new Set(events.map(({ id }) => id));
  const made = Map.groupBy(deliveries, ({ event, subscription }) => `${event} ${subscription}`);
  const again = [...redriven, ...sentAgain(history).made];
  const redrivenEvents = new Set(again.map((id) => `evt_${id.slice(4, 30)}`));
  const ends = endsOf(history);
  const fanned = new Map<string, number>(
    history.log.flatMap(({ what, event, atMs }) =>
      what === 'fanned' ? [[`evt_${event}`, atMs] as const] : [],
    ),
  );
  for (const publish of publishes) {
    for (const { id, askedMs, answeredMs } of acknowledged(publish)) {
      if (!kept.has(id)) flaws.push(`${id} was acknowledged and is lost`);
      for (const one of subscriptions) {
        // A subscription that ends before a large fan-out reaches it gets no delivery.
        const doneMs = Math.max(answeredMs, fanned.get(id) ?? 0);
        const times = { askedMs, answeredMs, doneMs };
        const expected = expectedOf(publish, times, one, ends.get(one.id));
        const found = made.get(`${id} ${one.id}`) ?? [];
        const isRight = redrivenEvents.has(id)
          ? found.length >= (expected === 'either' ? 0 : expected)
          : expected === 'either'
            ? found.length <= 1
            : found.length === expected;
        if (!isRight) {
          flaws.push(`${id} made ${found.length} deliveries for ${one.id}, expected ${expected}`);
        }
      }
    }
  }
  for (const one of deliveries) {
    if (one.state === 'pending') flaws.push(`${one.id} has not ended`);
  }
  return flaws.map((what) => ({ invariant: 'I1', what }));
}

/** With an idempotency key, an acknowledgement may refer to the event of an earlier call. */
function acknowledged({ calls }: Publish): { id: string; askedMs: number; answeredMs: number }[] {
  const first = calls[0]?.askedMs ?? 0;
  const found = calls.find(({ id }) => id !== undefined);
  if (found?.id === undefined || found.answeredMs === undefined) return [];
  return [{ id: found.id, askedMs: first, answeredMs: found.answeredMs }];
}

interface End {
  fromMs: number;
  untilMs: number;
}

/** The interval in which each subscription ended, by request or by a 410 of its receiver. */
function endsOf({ subscriptions, sends }: History): Map<string, End> {
  const ends = new Map<string, End>();
  for (const { id, endAskedMs, endAnsweredMs } of subscriptions) {
    if (endAskedMs === undefined) continue;
    ends.set(id, { fromMs: endAskedMs, untilMs: endAnsweredMs ?? Infinity });
  }
  for (const { subscription, reply, startedMs } of sends) {
    if (reply !== 410 || startedMs === undefined) continue;
    const before = ends.get(subscription) ?? { fromMs: Infinity, untilMs: Infinity };
    ends.set(subscription, { ...before, fromMs: Math.min(before.fromMs, startedMs) });
  }
  return ends;
}

function expectedOf(
  { name, kind }: Publish,
  { askedMs, answeredMs, doneMs }: { askedMs: number; answeredMs: number; doneMs: number },
  one: Subscribed,
  end: End | undefined,
): 0 | 1 | 'either' {
  if (!isMeant(one, { name, kind })) return 0;
  if (one.answeredMs <= askedMs && (end?.fromMs ?? Infinity) >= doneMs) return 1;
  return one.askedMs >= answeredMs || (end?.untilMs ?? Infinity) <= askedMs ? 0 : 'either';
}

export function isMeant(
  { hears, kinds }: Pick<Subscribed, 'hears' | 'kinds'>,
  { name, kind }: Pick<Publish, 'name' | 'kind'>,
): boolean {
  return (hears === '*' || hears === name) && kinds?.includes(kind) !== false;
}

/** I2: nothing arrives that was not published, and every body is unchanged. */
export function judgePhantoms({ publishes, sends, events }: History): Flaw[] {
  const flaws: string[] = [];
  const bodies = new Set(publishes.map(({ body }) => latin(body)));
  const bodyOf = new Map(
    publishes.flatMap(({ body, calls }) =>
      calls.flatMap(({ id }) => (id === undefined ? [] : [[id, latin(body)] as const])),
    ),
  );
  for (const { event, delivery, body } of sends) {
    if (!bodies.has(body)) flaws.push(`${delivery} came with bytes that were never published`);
    else if ((bodyOf.get(event) ?? body) !== body) {
      flaws.push(`${delivery} came with other bytes than those published as ${event}`);
    }
  }
  for (const { id, body } of events) {
    if ((bodyOf.get(id) ?? body) !== body) flaws.push(`${id} is stored with other bytes`);
  }
  return flaws.map((what) => ({ invariant: 'I2', what }));
}

function latin(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** I13: one idempotency key makes one event, whatever fails. */
export function judgeKeys({ publishes, events }: History): Flaw[] {
  const flaws: string[] = [];
  const byBody = Map.groupBy(events, ({ body }) => body);
  for (const { marker, body, key, calls } of publishes) {
    const ids = new Set(calls.flatMap(({ id }) => (id === undefined ? [] : [id])));
    if (ids.size > 1) flaws.push(`${marker} was acknowledged as ${[...ids].join()}`);
    const count = byBody.get(latin(body))?.length ?? 0;
    if (count > (key === undefined ? calls.length : 1)) {
      flaws.push(`${marker} made ${count} events`);
    }
  }
  return flaws.map((what) => ({ invariant: 'I13', what }));
}
