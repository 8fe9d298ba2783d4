// Records responses to publishers and requests at receivers, by event number. The threads share this memory, because
// messages for hundreds of thousands of events would be too slow.

/** The signal that ended a process of the service. */
export type End = 'SIGKILL' | 'SIGTERM';

export interface Book {
  /** Hashes of event ids: as the publish was answered, and as the receiver got it. 0: not yet. */
  answeredAs: Float64Array;
  cameAs: Float64Array;
  /** The process of the service that delivered it last, from 1; 0: none yet. */
  cameFrom: Uint16Array;
  /** Duplicates, by the process that had delivered the event before. */
  repeats: Uint32Array;
  /** Counters, by the names below. */
  counters: Int32Array;
}

/** Indexes of `counters`. */
export const count = {
  /** Events whose publish was answered, and events that a receiver has accepted at least once. */
  answered: 0,
  delivered: 1,
  /** The current process of the service, from 1. */
  process: 2,
  /** All requests at receivers, and those that they answered with 500. */
  callbacks: 3,
  failed: 4,
  /** Publishes without a response, and those with a status other than 202. */
  unanswered: 5,
  refused: 6,
  /** Publishes that were repeated after a response; they must not create new events. */
  repeated: 7,
  /** Publishes in flight. */
  asking: 8,
  /** 1: no new events are published. */
  isOver: 9,
} as const;

const processesMax = 1_024;

export function newBook(events: number): Book {
  return {
    answeredAs: new Float64Array(new SharedArrayBuffer(events * 8)),
    cameAs: new Float64Array(new SharedArrayBuffer(events * 8)),
    cameFrom: new Uint16Array(new SharedArrayBuffer(events * 2)),
    repeats: new Uint32Array(new SharedArrayBuffer(processesMax * 4)),
    counters: new Int32Array(new SharedArrayBuffer(Object.keys(count).length * 4)),
  };
}

/** Hashes an id to 53 bits. A million ids collide once in 18,000 runs, and a collision only hides a violation. */
export function brief(id: string): number {
  let [low, high] = [0x811c9dc5, 0x1b873593];
  for (let at = 0; at < id.length; at += 1) {
    const code = id.charCodeAt(at);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ code, 0x85ebca6b) ^ (high >>> 13);
  }
  return (high & 0x1fffff) * 2 ** 32 + (low >>> 0) || 1;
}

/** Events that were answered, but have not come yet. */
export function outstanding({ answeredAs, cameAs }: Book): number[] {
  const found: number[] = [];
  for (let number = 0; number < answeredAs.length; number += 1) {
    if (answeredAs[number] !== 0 && cameAs[number] === 0) found.push(number);
  }
  return found;
}

export interface Verdict {
  accepted: number;
  lost: number;
  duplicates: number;
  /** The most duplicates after one kill. */
  duplicatesMax: number;
  violations: string[];
}

/** Checks everything at the end. `ends[k]` is the signal that ended process k + 1. */
export function judge(book: Book, ends: readonly End[], windowMax: number): Verdict {
  const { answeredAs, cameAs, counters } = book;
  const violations: string[] = [];
  const lost = outstanding(book);
  if (lost.length > 0) {
    violations.push(`I1: ${lost.length} accepted events never came, number ${lost[0]} among them`);
  }
  const others = answeredAs.findIndex((id, number) => {
    const came = cameAs[number];
    return id !== 0 && came !== 0 && came !== id;
  });
  if (others >= 0) {
    violations.push(
      `I13: number ${others} came with another id than the publish was answered with`,
    );
  }
  for (const [index, end] of ends.entries()) {
    const again = book.repeats[index + 1] ?? 0;
    const most = end === 'SIGKILL' ? windowMax : 0;
    if (again <= most) continue;
    const what = `${again} deliveries of process ${index + 1} were made again after ${end}`;
    violations.push(`I5: ${what}, expected at most ${most}`);
  }
  const repeats = book.repeats.subarray(0, ends.length + 2);
  return {
    accepted: counters[count.answered] ?? 0,
    lost: lost.length,
    duplicates: repeats.reduce((sum, one) => sum + one, 0),
    duplicatesMax: repeats.reduce((most, one) => Math.max(most, one), 0),
    violations,
  };
}
