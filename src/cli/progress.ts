// A progress bar on the terminal's error stream, in one line that is drawn over and erased at the end.
// Where that stream is no terminal there is nothing at all, and standard output is never touched.
import { limits } from '../core/limits.ts';
import { harmless } from './harmless.ts';
import { cutTo, textWidth } from './table.ts';
import type { Terminal } from './terminal.ts';

export interface Progress extends Disposable {
  /** Tells how far it is; drawn at most ten times a second. */
  show: (step: Step) => void;
}

export interface Step {
  done: number;
  /** Undefined where nobody knows how much there is. */
  total: number | undefined;
  /** What else there is to say, at the end of the line. */
  note?: string;
}

/** Erased when it is disposed of, however that comes. */
export function startProgress(
  label: string,
  terminal: Pick<Terminal, 'err' | 'log' | 'world' | 'width'>,
): Progress {
  if (!terminal.log.isTerminal) return { show: () => {}, [Symbol.dispose]: () => {} };
  const startedMs = terminal.world.monotonicMs();
  let drawnMs: number | undefined;
  return {
    show: (step) => {
      const nowMs = terminal.world.monotonicMs();
      if (drawnMs !== undefined && nowMs - drawnMs < limits.progressEveryMs) return;
      drawnMs = nowMs;
      const line = progressLine(
        { label, ...step, tookMs: nowMs - startedMs },
        screenWidth(terminal),
      );
      terminal.err(`\r${line}${eraseRest}`);
    },
    [Symbol.dispose]: () => {
      if (drawnMs !== undefined) terminal.err(`\r${eraseRest}`);
      drawnMs = undefined;
    },
  };
}

/** The line as text. No terminal breaks it, not even when somebody types Ctrl+C, which it shows as `^C` behind it. */
export function progressLine(
  { label, done, total, note, tookMs }: Step & { label: string; tookMs: number },
  width: number,
): string {
  const words = [...counted(done, total), ...timed({ done, total, tookMs })];
  const tail = [words.join(' · '), ...(note === undefined ? [] : [harmless(note)])].join(' · ');
  const most = Math.max(width - keptFree, 0);
  const room = most - textWidth(label) - textWidth(tail) - 4;
  const hasBar = total !== undefined && room >= barMin;
  const bar = hasBar ? `${drawBar(done, total, Math.min(room, barMax))}  ` : '';
  return cutTo(`${label}  ${bar}${tail}`, most);
}

/** Where output goes elsewhere, nobody knows how wide the error stream's terminal is. */
function screenWidth({ width }: Pick<Terminal, 'width'>): number {
  return Number.isFinite(width()) ? width() : 80;
}

const eraseRest = '\u001b[K';
/** For `^C`, and one more: some terminals break a line when it is full. */
const keptFree = 3;
const barMin = 8;
const barMax = 30;

function counted(done: number, total: number | undefined): string[] {
  if (total === undefined) return [number(done)];
  return [`${Math.floor(100 * part(done, total))} %`, `${number(done)} of ${number(total)}`];
}

/** A rate and what is left of the time, once there is something to go by. */
function timed({ done, total, tookMs }: Step & { tookMs: number }): string[] {
  if (tookMs < 1_000 || done === 0) return [];
  const perS = done / (tookMs / 1_000);
  const rate = perS < 10 ? perS.toFixed(1) : number(Math.round(perS));
  if (total === undefined || total <= done) return [`${rate}/s`];
  return [`${rate}/s`, `${remaining((total - done) / perS)} left`];
}

function remaining(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds)} s`;
  if (seconds < 3_600) return `${Math.ceil(seconds / 60)} min`;
  return `${Math.ceil(seconds / 3_600)} h`;
}

function drawBar(done: number, total: number, width: number): string {
  const full = Math.floor(width * part(done, total));
  return '█'.repeat(full) + '░'.repeat(width - full);
}

function part(done: number, total: number): number {
  return total <= 0 ? 1 : Math.min(1, Math.max(0, done / total));
}

function number(value: number): string {
  return value.toLocaleString('en');
}
