// The history that a process wrote before it died: the checks rely on nothing else. Each line is written
// synchronously, so that a kill cannot undo it.
import { writeSync } from 'node:fs';
import type { Outcome } from '../../store/settlement.ts';

/** `try`: the call was made. `ack`: it returned, so its effect must persist. */
export type Line =
  | { say: 'try publish'; tag: string; size: number; to: string | undefined }
  | { say: 'ack publish'; tag: string; events: readonly { id: string; deliveries?: number }[] }
  /** A process has leased the delivery. */
  | { say: 'leased'; event: string; n: number }
  /** The receiver responded with 2xx. */
  | { say: 'received'; event: string; n: number }
  | { say: 'try settle' | 'ack settle'; event: string; n: number; outcome: Outcome }
  | { say: 'try unsubscribe' | 'ack unsubscribe'; id: string }
  | { say: 'ack subscribe'; id: string }
  | { say: 'try retry'; event: string; n: number }
  | { say: 'ack retry'; event: string; n: number; as: number }
  /** The encryption key in use: without it no secret can be decrypted. */
  | { say: 'ack key'; key: string }
  | { say: 'ack app'; appNo: number }
  /** Written by the shim, not by the process: a sync failed at this moment. */
  | { say: 'sync failed'; of: 'file' | 'folder' }
  | { say: 'closing' | 'closed' }
  /** The process has completed its path. */
  | { say: 'done' };

export type Say = (line: Line) => void;

export function sayTo(fd: number): Say {
  return (line) => void writeSync(fd, `${JSON.stringify(line)}\n`);
}

/** Ignores a last line that is incomplete. */
export function readHistory(text: string): Line[] {
  const lines = text.split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Line);
}
