// A large fan-out and how far it has come, as its row says.
import { strict as assert } from 'node:assert';
import { limits } from '../core/limits.ts';
import type { Row } from './row.ts';
import { bytes, integer, maybe, text } from './row.ts';
import type { Slots } from './slots.ts';

export interface FanningOut {
  event: string;
  appNo: number;
  contract: string;
  /** Of the app when it was accepted: who listened then gets it. */
  version: number;
  /** Patterns that hear the event, one after the other. */
  names: readonly string[];
  cursor: Cursor;
  slice: number;
  /** Deliveries that were made so far. */
  made: number;
  sent: { eventName: string; payload: Uint8Array; trace: string | undefined };
}

/** The next callback is the first one after `callback` that hears `names[step]`. */
export interface Cursor {
  step: number;
  callback: number;
}

/** The next listeners, and where to go on; undefined: that was the last of them. */
export interface Piece<L> {
  listeners: L[];
  after: Cursor | undefined;
}

/** How many callbacks a step looks at: what has no room is claimed later, at twice the cost. */
export function stepFor(
  { room, ofApp, stepMax }: Pick<Slots, 'room' | 'ofApp' | 'stepMax'>,
  { appNo, sent: { payload } }: Pick<FanningOut, 'appNo' | 'sent'>,
): number {
  const free = Math.min(room(), ofApp(appNo).unproven);
  const most = Math.min(Math.max(free, limits.fanOutStepMin), limits.fanOutStepMax);
  return payload.byteLength > limits.fanOutSharedBytesMax ? most : Math.min(most, stepMax);
}

export function toFanningOut(row: Row): FanningOut {
  return {
    event: text(row, 'event'),
    appNo: integer(row, 'app'),
    contract: text(row, 'contract'),
    version: integer(row, 'version'),
    names: toNames(text(row, 'names')),
    cursor: { step: integer(row, 'step'), callback: integer(row, 'callback') },
    slice: integer(row, 'slice'),
    made: integer(row, 'made'),
    sent: {
      eventName: text(row, 'name'),
      payload: bytes(row, 'payload'),
      trace: maybe(text, row, 'trace'),
    },
  };
}

function toNames(json: string): string[] {
  const names: unknown = JSON.parse(json);
  assert(Array.isArray(names), 'Cannot read a fan-out: its names are no list');
  return names.map((name: unknown) => {
    assert(typeof name === 'string', 'Cannot read a fan-out: a name is no text');
    return name;
  });
}
