// What a process told before it died, line by line: the only thing that the checks afterwards believe. A
// line is written synchronously, so that a kill cannot take back what was said.
import { writeSync } from 'node:fs';
import type { Outcome } from '../../store/settlement.ts';

/** `try`: it was asked for. `ack`: it was answered, so it is promised. */
export type Line =
  | { say: 'try publish'; tag: string; size: number; to: string | undefined }
  | { say: 'ack publish'; tag: string; events: readonly { id: string; deliveries?: number }[] }
  /** A process holds the delivery now. */
  | { say: 'leased'; event: string; n: number }
  /** The receiver answered 2xx, as it remembers itself. */
  | { say: 'received'; event: string; n: number }
  | { say: 'try settle' | 'ack settle'; event: string; n: number; outcome: Outcome }
  | { say: 'try unsubscribe' | 'ack unsubscribe'; id: string }
  | { say: 'ack subscribe'; id: string }
  | { say: 'try retry'; event: string; n: number }
  | { say: 'ack retry'; event: string; n: number; as: number }
  /** The encryption key that was in use: without it no secret can be opened. */
  | { say: 'ack key'; key: string }
  | { say: 'ack app'; appNo: number }
  /** Not by the process: at this moment the disk refused to sync something for it. */
  | { say: 'sync failed'; of: 'file' | 'folder' }
  | { say: 'closing' | 'closed' }
  /** Nothing was cut short. */
  | { say: 'done' };

export type Say = (line: Line) => void;

export function sayTo(fd: number): Say {
  return (line) => void writeSync(fd, `${JSON.stringify(line)}\n`);
}

/** A line that was cut in its middle was not said. */
export function readHistory(text: string): Line[] {
  const lines = text.split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Line);
}
