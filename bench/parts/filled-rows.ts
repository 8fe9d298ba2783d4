// A long synthetic history, row by row and deterministic: app, event name, callback and outcome of
// the i-th event. Mostly ordinary traffic, with a few rare cases. For benchmarks only.
import { firstIdAt } from '../../src/core/base/id.ts';

export interface FillOptions {
  /** Events, each with one delivery. */
  events: number;
  /** When the last one was published. */
  untilMs: number;
  /** The time span that they cover. */
  spanMs: number;
  /** Every third delivery has failed instead of every fiftieth. */
  isOutage?: boolean;
}

export interface FilledRow {
  id: string;
  atMs: number;
  slice: number;
  app: number;
  name: string;
  /** The number of its callback and of its lane, from 1. */
  lane: number;
  state: 'delivered' | 'dead' | 'cancelled' | 'retrying' | 'due';
  code: number | null;
  error: string | null;
  attempts: number;
}

/** A busy app, a small one, and one that is nearly silent, with the number of their callbacks. */
export const filledApps = [
  { name: 'busy', callbacks: 40 },
  { name: 'small', callbacks: 8 },
  { name: 'silent', callbacks: 2 },
] as const;

export const rareName = 'audit.exported';
/** The busy app's last callback receives very few events. */
export const rareCallback = filledApps[0].callbacks;

/** Events per slice, which also counts their deliveries. */
const eventsPerSlice = 2_048;
const names = ['order.created', 'order.paid', 'order.item.packed', 'user.signed_up', 'ping'];

export function filledRow(i: number, options: FillOptions): FilledRow {
  const { events, untilMs, spanMs, isOutage = false } = options;
  const atMs = Math.floor(untilMs - spanMs + ((i + 1) * spanMs) / events);
  const id = `${firstIdAt(atMs).slice(0, 10)}${String(i).padStart(16, '0')}`;
  const dice = scatter(i);
  const isRare = i % 50_021 === 17;
  const app = dice % 1_000 === 999 ? 3 : dice % 10 === 8 ? 2 : 1;
  const name = isRare && app === 1 ? rareName : (names[scatter(dice) % names.length] ?? '');
  const slice = 1 + Math.floor(i / eventsPerSlice);
  const outcome = outcomeOf(scatter(i + 7), isOutage);
  return { id, atMs, slice, app, name, lane: laneOf(app, i), ...outcome };
}

type Outcome = Pick<FilledRow, 'state' | 'code' | 'error' | 'attempts'>;

function outcomeOf(dice: number, isOutage: boolean): Outcome {
  const share = (dice % 10_000) / 10_000;
  const failed = isOutage ? 0.33 : 0.02;
  if (share > failed) {
    const code = share >= 0.9999 ? 299 : share > 0.9 ? 204 : 200;
    return { state: 'delivered', code, error: null, attempts: 1 };
  }
  const attempt = attemptOf(scatter(dice));
  if (share < failed * 0.4) return { state: 'dead', ...attempt, attempts: 8 };
  if (share < failed * 0.6) return { state: 'retrying', ...attempt, attempts: 2 };
  if (share < failed * 0.8) return { state: 'cancelled', code: null, error: null, attempts: 0 };
  return { state: 'due', code: null, error: null, attempts: 0 };
}

function attemptOf(dice: number): Pick<Outcome, 'code' | 'error'> {
  const share = dice % 1_000;
  if (share < 2) return { code: null, error: 'tls' };
  if (share < 200) return { code: null, error: 'timeout' };
  if (share < 300) return { code: 301, error: 'redirect' };
  if (share < 600) return { code: share % 2 === 0 ? 404 : 429, error: 'status' };
  return { code: share % 3 === 0 ? 503 : 500, error: 'status' };
}

function laneOf(app: number, i: number): number {
  if (app === 3) return 49 + (i % 2);
  if (app === 2) return 41 + (scatter(i + 3) % 8);
  return i % 40_009 === 5 ? rareCallback : 1 + (scatter(i + 3) % (rareCallback - 1));
}

/** Deterministic pseudo-random bits of a number (a step of Knuth's generator). */
function scatter(i: number): number {
  return (Math.imul(i + 0x9e37, 2_654_435_761) >>> 4) ^ ((i * 40_503) & 0xffff);
}
