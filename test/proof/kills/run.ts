// Publishes hundreds of thousands of events to the real service on a real disk, and kills it again and again. Every
// accepted event must reach its receiver unchanged, with few duplicates.
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
  /** The range of the random time between kills. */
  killEveryMs: { least: number; most: number };
  /** Stop killing after this many ends; by default, never stop. */
  endsMax?: number;
  /** Publish no new events after this time, so that a slow machine still finishes. */
  mostMs?: number;
  say?: (line: string) => void;
  changes?: readonly SourceChange[];
}

const key = 'k'.repeat(40);
const receivers = 4;
const names = Array.from({ length: receivers }, (_, index) => `killed.n${index}`);
/** Every `termEvery`-th round ends with SIGTERM. Every `earlyEvery`-th is short, and first kills another start. */
const termEvery = 5;
const earlyEvery = 4;
const earlyMs = 400;
const lookMs = 10;
const askingTurns = 500;
const statsEveryMs = 1_000;
/** Pending events count as lost after this time without a callback. */
const silenceMs = 60_000;
const leaseMs = limits.nodeSilentMs;
/** The same limit for controls, where events are expected to be lost. */
const brokenMs = 4_000;

export async function publishUnderKills(options: KillsOptions): Promise<Finding> {
  return withScratch(async (scratch) => {
    await using stage = await setUp(options, scratch);
    await stage.live();
    return stage.finding();
  }, tmpdir()); // On a disk, not in memory: the figures should be realistic.
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
  /** For each killed start, whether the kill came before it listened. */
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

  /** Kills a start at a random moment. If it was already listening, it does not count as killed early. */
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

  /** The counts must agree at every moment: each event here has one delivery. */
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

  /** Waits until everything that an earlier process left has been attempted, and records the time. */
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

  /** Runs one process until its random end, or until everything is delivered. */
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
      // The outcome is stored a moment after the receiver's response.
      if (outstanding(book).length === 0) {
        await settled(serving).catch((error: Error) => note(error.message));
      }
      const stats = await look(serving);
      const { published, delivered } = stats.totals;
      const accepted = book.counters[count.answered] ?? 0;
      if (published !== accepted)
        note(`I13: ${accepted} events acknowledged, ${published} created`);
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

/** Waits until every accepted event has come, or until no callback has come for `mostMs`. */
async function drained(book: Book, { isDone }: Publishing, mostMs: number): Promise<void> {
  let [seen, sinceMs] = [-1, 0];
  while (!isDone() || outstanding(book).length > 0) {
    const callbacks = book.counters[count.callbacks] ?? 0;
    if (callbacks !== seen) [seen, sinceMs] = [callbacks, performance.now()];
    if (performance.now() - sinceMs > mostMs) return;
    await wait(20 * lookMs);
  }
}

/** Waits for a moment at which a publish is in flight, so that its outcome is unknown after the kill. */
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
