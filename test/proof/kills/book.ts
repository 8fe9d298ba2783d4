// What clients were told and what receivers saw, of each event by its number. In memory that the threads
// share, so that nothing has to be told about hundreds of thousands of events one by one.

/** How a process of the service came to its end. */
export type End = 'SIGKILL' | 'SIGTERM';

export interface Book {
  /** Of the event's id: as publish has answered; as it came to the receiver. 0: not yet. */
  answeredAs: Float64Array;
  cameAs: Float64Array;
  /** The process of the service that delivered it last, from 1; 0: nobody yet. */
  cameFrom: Uint16Array;
  /** How often a receiver accepted it again, by the process that had delivered it before. */
  repeats: Uint32Array;
  /** Counters, by the names below. */
  counters: Int32Array;
}

/** Places of `counters`. */
export const count = {
  /** Events whose publish was answered, and that a receiver accepted for the first time. */
  answered: 0,
  delivered: 1,
  /** The process of the service that runs, from 1. */
  process: 2,
  /** Requests of all kinds that receivers got, and those that they failed. */
  callbacks: 3,
  failed: 4,
  /** Publishes that got no answer, or another than 202. */
  unanswered: 5,
  refused: 6,
  /** Publishes that were answered before and sent again, to see that nothing new is made of them. */
  repeated: 7,
  /** Publishes that wait for their answer. */
  asking: 8,
  /** 1: nothing new is published any more. */
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

/** An id in 53 bits: of a million ids two are alike once in 18,000 runs, and then it shows as nothing. */
export function brief(id: string): number {
  let [low, high] = [0x811c9dc5, 0x1b873593];
  for (let at = 0; at < id.length; at += 1) {
    const code = id.charCodeAt(at);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ code, 0x85ebca6b) ^ (high >>> 13);
  }
  return (high & 0x1fffff) * 2 ** 32 + (low >>> 0) || 1;
}

/** Answered and not there yet. */
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
  /** The most that were delivered again after one kill. */
  duplicatesMax: number;
  violations: string[];
}

/** All that must hold at the end. `ends[k]` is how process k + 1 ended. */
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
    violations.push(`I13: number ${others} came as another event than publish had answered`);
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
