// What the outside saw of a cluster under faults: every callback that came to a receiver, every answer
// to a caller, every fault and when it was. It only notes; the oracle judges.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import type { Hears, Manner, Random } from './chaos-plan.ts';
import { Lag, nowMs, type Absence } from './event-loop-lag.ts';

/** One callback, as its receiver saw it. Times are the wall clock's, which the database shares. */
export interface Arrival {
  /** `dlv_…` */
  delivery: string;
  eventId: string;
  subscription: string;
  attempt: number;
  /** SHA-256 of the body. */
  print: string;
  atMs: number;
  /** `cut`: taken, but the answer was never sent. `undefined`: not answered (yet). */
  reply: number | 'cut' | undefined;
}

export interface Subscription {
  id: string;
  hears: Hears;
  /** When the call was first made, and when it was answered. */
  askedMs: number;
  answeredMs: number;
  /** When its end was first asked for, or its receiver first said 410; and when that was answered. */
  endAskedMs: number | undefined;
  endAnsweredMs: number | undefined;
  saidGone: boolean;
  /** Between an answer to a pause and the call that resumed it. */
  pauses: { answeredMs: number; resumeAskedMs: number }[];
}

export interface PublishedEvent {
  id: string;
  name: string;
  print: string;
  /** When the request was first sent, and when it was answered with 202. */
  askedMs: number;
  answeredMs: number;
}

export class ChaosRecord {
  readonly arrivals: Arrival[] = [];
  readonly subscriptions: Subscription[] = [];
  readonly events: PublishedEvent[] = [];
  /** What must not be, as soon as it is seen. */
  readonly flaws: string[] = [];
  readonly outages: Absence[] = [];
  /** By the name of the node. */
  readonly kills: { node: string; atMs: number }[] = [];
  readonly freezes: ({ node: string } & Absence)[] = [];
  readonly unanswered = { refused: 0, lost: 0 };
  slowestAnswerMs = 0;
  loadEndedMs = Infinity;
  readonly #lag = new Lag();

  /** How much later than it was this process may have noted something that it noted then. */
  lagAt(atMs: number): number {
    return this.#lag.at(atMs);
  }

  /** The longest time in which no receiver heard anything while events were published. */
  longestGapMs(): number {
    const all = this.arrivals.map(({ atMs }) => atMs);
    const times = all.filter((atMs) => atMs <= this.loadEndedMs).sort((a, b) => a - b);
    return times.reduce((most, ms, at) => Math.max(most, ms - (times[at - 1] ?? ms)), 0);
  }

  close(): void {
    this.#lag[Symbol.dispose]();
  }
}

export function printOf(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

export interface ChaosReceiver extends AsyncDisposable {
  url: string;
}

export type Phase = 'load' | 'heal';

export interface ReceiverDeps {
  record: ChaosRecord;
  random: Random;
  /** Time of the plan. */
  planMs: () => number;
  /** When it heals nothing fails any more; those that want no more still do not. */
  phase: () => Phase;
  onGone: () => void;
}

/** A receiver of its own port, since connections to one origin are limited. */
export async function chaosReceiver(manner: Manner, deps: ReceiverDeps): Promise<ChaosReceiver> {
  const { record, onGone } = deps;
  const server = createServer((request, response) => {
    const atMs = nowMs();
    const text = (name: string): string => String(request.headers[name] ?? '');
    const take = async (): Promise<void> => {
      const body = await buffer(request);
      const arrival: Arrival = {
        delivery: text('ringback-delivery'),
        eventId: text('webhook-id'),
        subscription: text('ringback-subscription'),
        attempt: Number(text('ringback-attempt')),
        print: printOf(body),
        atMs,
        reply: undefined,
      };
      record.arrivals.push(arrival);
      const reply = await replyOf(manner, arrival, deps);
      if (reply === 410) onGone();
      arrival.reply = reply;
      if (reply === 'cut') response.destroy();
      else response.writeHead(reply, reply === 503 ? { 'retry-after': '1' } : {}).end();
    };
    take().catch(() => response.destroy()); // The node was killed while it sent.
  });
  // Longer than a node keeps an idle connection: a close of ours never meets a request of its.
  server.keepAliveTimeout = 30_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function replyOf(
  manner: Manner,
  { print }: Arrival,
  { random, planMs, phase }: ReceiverDeps,
): Promise<number | 'cut'> {
  switch (manner.kind) {
    case 'fast':
      return 200;
    case 'slow':
      await wait(50 + random() * 350);
      return 200;
    case 'stuck':
      if (phase() === 'load') await wait(2_500);
      return 200;
    case 'flaky':
      if (phase() !== 'load') return 200;
      if (planMs() >= manner.fromMs && planMs() < manner.toMs) return 500;
      return random() < 0.8 ? 200 : random() < 0.5 ? 500 : 503;
    case 'poisoned':
      return phase() === 'load' && isPoison(print) ? 500 : 200;
    case 'cutting':
      return phase() === 'load' && random() < 0.1 ? 'cut' : 200;
    case 'gone':
      return planMs() >= manner.fromMs ? 410 : 200;
  }
}

/** One in about forty, by its bytes, so that every attempt is answered alike. */
function isPoison(print: string): boolean {
  return Number.parseInt(print.slice(0, 4), 16) % 40 === 0;
}
