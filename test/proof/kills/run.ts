// Events by the hundred thousand through the real service on a real disk, which is killed again and again meanwhile: what
// was accepted comes to its receiver, as it was, and hardly ever twice.
import { statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { limits } from '../../../src/core/limits/limits.ts';
import { serve, startChild, type Serving } from '../../cli/ringback-process.ts';
import { changedSource, type SourceChange } from '../controls/change-source.ts';
import { withScratch } from '../crash/points.ts';
import { settled, statsOf, type Stats } from '../faults/node.ts';
import type { Finding } from '../finding.ts';
import { seededChance } from '../sim/chance.ts';
import { count, judge, newBook, outstanding, type Book, type End } from './book.ts';
import { startPublisher, startReceivers, type Publishing } from './threads.ts';

export interface KillsOptions {
  events: number;
  seed: number;
  /** The time from one kill to the next, drawn anew each time. */
  killEveryMs: { least: number; most: number };
  /** After so many ends it is left alone; by default never. */
  endsMax?: number;
  /** A machine that is too slow publishes nothing new after this, and says how far it came. */
  mostMs?: number;
  say?: (line: string) => void;
  changes?: readonly SourceChange[];
}

const key = 'k'.repeat(40);
const receivers = 4;
const names = Array.from({ length: receivers }, (_, index) => `killed.n${index}`);
/** Every so many rounds end by SIGTERM. Every so many begin with a start that is killed, and are short. */
const termEvery = 5;
const earlyEvery = 4;
const earlyMs = 400;
const lookMs = 10;
const askingTurns = 500;
const statsEveryMs = 1_000;
/** So long without a callback while something waits: it was lost. */
const silenceMs = 60_000;
const leaseMs = limits.nodeSilentMs;
/** The same where the product is broken on purpose, and nobody needs to be patient. */
const brokenMs = 4_000;

export async function publishUnderKills(options: KillsOptions): Promise<Finding> {
  return withScratch(async (scratch) => {
    await using stage = await setUp(options, scratch);
    await stage.live();
    return stage.finding();
  }, tmpdir()); // A disk, not memory: what is measured here is what people will see.
}

interface Stage extends AsyncDisposable {
  live: () => Promise<void>;
  finding: () => Finding;
}

async function setUp(options: KillsOptions, scratch: string): Promise<Stage> {
  const { events, seed, say = () => undefined, changes = [], endsMax = Infinity } = options;
  const isBroken = changes.length > 0;
  const chance = seededChance(seed);
  const book = newBook(events);
  const violations: string[] = [];
  const note = (flaw: string): void => void violations.push(flaw);
  const receiving = await startReceivers({ book, onFlaw: note }, receivers);
  const publishing = startPublisher({ book, onFlaw: note }, { key, names });
  const began = performance.now();
  const ends: End[] = [];
  const recoveriesMs: number[] = [];
  /** Whether each came before it listened. */
  const startsKilled: boolean[] = [];
  let bytes = 0;
  let looks = 0;
  let rounds = 0;
  let startMs = 0;

  const settings = {
    RINGBACK_PORT: '0',
    RINGBACK_DATA: join(scratch, 'data'),
    RINGBACK_API_KEY: key,
    RINGBACK_LOG: 'silent',
    RINGBACK_RETRY: Array.from({ length: 12 }, () => '200ms').join(','),
    ...changedSource(changes),
  };

  const start = async (): Promise<Serving> => {
    book.counters[count.process] = ends.length + 1;
    const beganMs = performance.now();
    const serving = await serve(settings);
    startMs = performance.now() - beganMs;
    return serving;
  };

  /** At any moment before it says that it listens; a start that was quicker than the last one is not counted. */
  const killStart = async (): Promise<void> => {
    book.counters[count.process] = ends.length + 1;
    await using child = startChild(['serve'], settings);
    const isUp = child.says(/listens on/).then(
      () => true,
      () => false,
    );
    const wasUp = await Promise.race([isUp, wait(chance.between(0, startMs), false)]);
    child.signal('SIGKILL');
    const code = await child.ended;
    if (code !== 'SIGKILL') note(`I12: a start ended by itself with ${code}: ${child.err()}`);
    await receiving.readOut();
    ends.push('SIGKILL');
    startsKilled.push(!wasUp);
  };

  /** Accounting holds at every instant: of each event here there is one delivery. */
  const look = async (serving: Serving): Promise<Stats> => {
    const stats = await statsOf(serving);
    const { published, delivered, dead, cancelled } = stats.totals;
    looks += 1;
    if (published !== delivered + dead + cancelled + stats.pending) {
      note(
        `I14: the statistics say ${JSON.stringify({ ...stats.totals, pending: stats.pending })}`,
      );
    }
    return stats;
  };

  /** Until all is recovered that an earlier process left; notes how long that took. */
  const recover = async (left: readonly number[], startedMs: number): Promise<void> => {
    let waiting = left;
    const mostMs = isBroken ? brokenMs : 2 * leaseMs;
    for (;;) {
      waiting = waiting.filter((number) => book.cameAs[number] === 0);
      const tookMs = performance.now() - startedMs;
      if (waiting.length === 0) recoveriesMs.push(tookMs);
      if (waiting.length === 0) return;
      if (tookMs > mostMs) {
        note(`I18: ${waiting.length} of ${left.length} deliveries not tried in ${mostMs} ms`);
        return;
      }
      await wait(lookMs);
    }
  };

  const isDone = (): boolean => publishing.isDone() && outstanding(book).length === 0;

  /** Runs until its end is drawn, or until all is delivered. */
  const liveOnce = async (
    left: readonly number[],
  ): Promise<{ isOver: boolean; left: number[] }> => {
    rounds += 1;
    const round = rounds;
    if (round % earlyEvery === 0) await killStart();
    const startedMs = performance.now();
    await using serving = await start();
    if (round === 1) await subscribe(serving, receiving.ports);
    publishing.tell({ url: serving.url });
    if (round % earlyEvery === 0) await wait(chance.between(0, earlyMs));
    else {
      await recover(left, startedMs);
      const { least, most } = options.killEveryMs;
      const untilMs = performance.now() + chance.between(least, most);
      let looksMs = performance.now();
      while (performance.now() < untilMs && !isDone()) {
        if (performance.now() >= looksMs) {
          looksMs += statsEveryMs;
          await look(serving);
        }
        await wait(lookMs);
      }
    }
    if (round % 2 === 0) await whileAsking(book);
    publishing.tell({ url: undefined });
    const end = round % termEvery === 0 ? 'SIGTERM' : 'SIGKILL';
    serving.signal(end);
    const code = await serving.ended;
    if (end === 'SIGTERM' && code !== 0) note(`I5: SIGTERM ended it with ${code}`);
    await receiving.readOut();
    ends.push(end);
    return { isOver: isDone(), left: outstanding(book) };
  };

  return {
    live: async () => {
      let left: number[] = [];
      const isSeen = (): boolean => isBroken && violations.length > 0;
      const { mostMs = Infinity } = options;
      for (let isOver = false; !isOver && ends.length < endsMax && !isSeen();) {
        ({ isOver, left } = await liveOnce(left));
        if (performance.now() - began > mostMs) book.counters[count.isOver] = 1;
        say(progress(book, ends));
      }
      await using serving = await start();
      publishing.tell({ url: serving.url });
      await drained(book, publishing, isBroken ? brokenMs : silenceMs);
      // A receiver has answered a moment before that is written down.
      if (outstanding(book).length === 0) await settled(serving);
      const stats = await look(serving);
      const { published, delivered } = stats.totals;
      const accepted = book.counters[count.answered] ?? 0;
      if (published !== accepted) note(`I13: ${accepted} events by their keys, ${published} made`);
      if (delivered !== published) note(`I14: ${published} events, ${delivered} delivered`);
      bytes = statSync(join(scratch, 'data', 'ringback.db')).size;
    },
    finding: () => {
      const verdict = judge(book, ends, limits.windowMax);
      const { accepted, lost, duplicates, duplicatesMax } = verdict;
      const early = startsKilled.filter((isEarly) => isEarly).length;
      if (startsKilled.length > 0 && early === 0) note('void: no start was killed');
      const seconds = (performance.now() - began) / 1000;
      return {
        part: 'publishing under kill -9',
        figures: {
          seed,
          events: accepted,
          SIGKILL: ends.filter((end) => end === 'SIGKILL').length,
          'of those, before it listened': early,
          SIGTERM: ends.filter((end) => end === 'SIGTERM').length,
          callbacks: book.counters[count.callbacks] ?? 0,
          'publishes without an answer': book.counters[count.unanswered] ?? 0,
          'publishes refused (503)': book.counters[count.refused] ?? 0,
          'keys used again': book.counters[count.repeated] ?? 0,
          'callbacks answered 500': book.counters[count.failed] ?? 0,
          duplicates,
          'duplicates after one kill, most': duplicatesMax,
          'looks at the accounting': looks,
          'recovery, worst (s)': seconds1(Math.max(0, ...recoveriesMs)),
          'events a second': Math.round(accepted / seconds),
          'database (MB)': Math.round(bytes / 1e6),
          'took (s)': Math.round(seconds),
        },
        violations: [...violations, ...verdict.violations],
        events: { accepted, lost },
      };
    },
    [Symbol.asyncDispose]: async () => {
      await publishing.worker.terminate();
      await receiving.worker.terminate();
    },
  };
}

function seconds1(ms: number): number {
  return Math.round(ms / 100) / 10;
}

function progress({ counters }: Book, ends: readonly End[]): string {
  return `${counters[count.answered]} accepted, ${counters[count.delivered]} delivered, ${ends.length} ends`;
}

/** All that was accepted has come, or nothing has come for long. */
async function drained(book: Book, { isDone }: Publishing, mostMs: number): Promise<void> {
  let [seen, sinceMs] = [-1, 0];
  while (!isDone() || outstanding(book).length > 0) {
    const callbacks = book.counters[count.callbacks] ?? 0;
    if (callbacks !== seen) [seen, sinceMs] = [callbacks, performance.now()];
    if (performance.now() - sinceMs > mostMs) return;
    await wait(20 * lookMs);
  }
}

/** A moment at which a publish waits for its answer: nobody will know what became of it. */
async function whileAsking({ counters }: Book): Promise<void> {
  for (let turn = 0; turn < askingTurns && counters[count.asking] === 0; turn += 1) await wait(1);
}

async function subscribe(serving: Serving, ports: readonly number[]): Promise<void> {
  for (const [index, port] of ports.entries()) {
    const query = new URLSearchParams({
      callbackUrl: `http://127.0.0.1:${port}/hook`,
      event: names[index] ?? '',
    });
    const response = await fetch(`${serving.url}/subscribe?${query.toString()}`, {
      method: 'POST',
      headers: { 'x-api-key': key },
    });
    if (response.status !== 201) throw new Error(`Cannot subscribe: ${await response.text()}`);
  }
}
