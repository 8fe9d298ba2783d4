// A progress bar on stderr, in one line that is redrawn and erased at the end. If stderr is not a
// terminal it draws nothing, and standard output is never touched.
import { limits } from '../../core/limits/limits.ts';
import { harmless } from './text.ts';
import { cutTo, textWidth } from './table.ts';
import type { Terminal } from './terminal.ts';

export interface Progress extends Disposable {
  /** Reports progress; drawn at most ten times a second. */
  show: (step: Step) => void;
}

export interface Step {
  done: number;
  /** Undefined if the total is unknown. */
  total: number | undefined;
  /** Extra text for the end of the line. */
  note?: string;
}

/** The line is erased on dispose. */
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

/**
 * The line as text. It leaves room at the edge, so that no terminal wraps it, even when Ctrl+C is
 * echoed as `^C`.
 */
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

/** If output goes elsewhere, the width of stderr's terminal is unknown. */
function screenWidth({ width }: Pick<Terminal, 'width'>): number {
  return Number.isFinite(width()) ? width() : 80;
}

const eraseRest = '\u001b[K';
/** For `^C`, and one more: some terminals wrap a line when it is full. */
const keptFree = 3;
const barMin = 8;
const barMax = 30;

function counted(done: number, total: number | undefined): string[] {
  if (total === undefined) return [number(done)];
  return [`${Math.floor(100 * part(done, total))} %`, `${number(done)} of ${number(total)}`];
}

/** The rate and the time left, once there is enough data. */
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
