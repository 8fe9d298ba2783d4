// Ringback on a real pseudo-terminal, with a terminal emulator that shows what a person would see. Tests wait
// for text on the screen, never for time.
import { spawn, spawnSync } from 'node:child_process';
import xterm from '@xterm/headless';
import { keepSettings } from '../canary.ts';
import { compileCache, main, patienceMs, type Env } from './ringback-process.ts';

/** For `describe(…, { skip: noTerminal }, …)`: why no pseudo-terminal is available, or false. */
export const noTerminal: string | false =
  !String(spawnSync('script', ['--version']).stdout).includes('util-linux') &&
  '`script` of util-linux is not installed, which creates the pseudo-terminal';

export interface TerminalOptions {
  env?: Env;
  columns?: number;
  rows?: number;
}

export interface Shown extends AsyncDisposable {
  /** The visible lines, without the empty ones at the end. */
  screen: () => string[];
  /** All lines, including those that have scrolled off. */
  history: () => string[];
  /** All lines as text, with wrapped lines joined. */
  text: () => string;
  /** All bytes, including escape sequences. */
  raw: () => string;
  /** Resolves when text() matches; rejects if the process ends before that. */
  says: (pattern: RegExp) => Promise<RegExpExecArray>;
  /** Types keys: '\x03' is Ctrl+C. */
  type: (keys: string) => void;
  /** The exit code, once all output is on the screen. */
  ended: Promise<number>;
}

export function startOnTerminal(args: readonly string[], options: TerminalOptions = {}): Shown {
  const { env = {}, columns = 100, rows = 30 } = options;
  const { PATH = '', HOME = '' } = process.env;
  const line = [process.execPath, main, ...args].map(quoted).join(' ');
  const child = spawn(
    'script',
    ['-qefc', `stty cols ${columns} rows ${rows}; exec ${line}`, '/dev/null'],
    {
      env: {
        PATH,
        HOME,
        TZ: 'UTC',
        TERM: 'xterm-256color',
        SHELL: '/bin/sh',
        NODE_COMPILE_CACHE: compileCache,
        ...env,
      },
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  keepSettings(env);
  const emulator = new xterm.Terminal({
    cols: columns,
    rows,
    scrollback: 5_000,
    allowProposedApi: true,
  });
  let raw = '';
  const listeners = new Set<() => void>();
  child.stdout.on('data', (chunk: Buffer) => {
    raw += chunk.toString();
    emulator.write(chunk, () => {
      for (const listener of listeners) listener();
    });
  });
  child.stdin.on('error', () => undefined); // The process may have ended before it read the keys.
  const ended = new Promise<number>((resolve, reject) => {
    child.on('error', reject);
    // The emulator must have processed all output first.
    child.on('close', (code) => emulator.write('', () => resolve(code ?? -1)));
  });
  const text = (): string => textOf(emulator);
  return {
    screen: () => linesOf(emulator, emulator.buffer.active.baseY),
    history: () => linesOf(emulator, 0),
    text,
    raw: () => raw,
    says: async (pattern) => heard({ pattern, text, listeners, ended }),
    type: (keys) => void child.stdin.write(keys),
    ended,
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      child.stdin.end();
      await ended;
      emulator.dispose();
    },
  };
}

export interface Ended {
  code: number;
  screen: string[];
  history: string[];
  text: string;
  raw: string;
}

/** Runs a command to its end. */
export async function runOnTerminal(
  args: readonly string[],
  options: TerminalOptions = {},
): Promise<Ended> {
  await using shown = startOnTerminal(args, options);
  const code = await shown.ended;
  const { screen, history, text, raw } = shown;
  return { code, screen: screen(), history: history(), text: text(), raw: raw() };
}

// oxlint-disable-next-line no-control-regex -- that is what it looks for
const colour = /\u001b\[[0-9;]*m/;

/** Whether the output contains colours. */
export function isColoured(raw: string): boolean {
  return colour.test(raw);
}

function linesOf({ buffer }: InstanceType<typeof xterm.Terminal>, first: number): string[] {
  const { active } = buffer;
  const lines = Array.from(
    { length: active.length - first },
    (_, index) => active.getLine(first + index)?.translateToString(true) ?? '',
  );
  return lines.slice(0, lines.findLastIndex((line) => line !== '') + 1);
}

function textOf({ buffer }: InstanceType<typeof xterm.Terminal>): string {
  const { active } = buffer;
  let text = '';
  for (let index = 0; index < active.length; index += 1) {
    const line = active.getLine(index);
    const isContinued = active.getLine(index + 1)?.isWrapped === true;
    text += (line?.translateToString(!isContinued) ?? '') + (isContinued ? '' : '\n');
  }
  return `${text.trimEnd()}\n`;
}

interface Hearing {
  pattern: RegExp;
  text: () => string;
  listeners: Set<() => void>;
  ended: Promise<number>;
}

async function heard({ pattern, text, listeners, ended }: Hearing): Promise<RegExpExecArray> {
  const found = Promise.withResolvers<RegExpExecArray>();
  const look = (): void => {
    const match = pattern.exec(text());
    if (match !== null) found.resolve(match);
  };
  const fail = (why: string): void =>
    found.reject(new Error(`${why} and did not show ${pattern}:\n${text()}`));
  listeners.add(look);
  look();
  AbortSignal.timeout(patienceMs).addEventListener('abort', () => fail('It did not end'));
  ended.then(
    (code) => {
      look();
      fail(`It ended with ${code}`);
    },
    (error: unknown) => fail(String(error)),
  );
  try {
    return await found.promise;
  } finally {
    listeners.delete(look);
  }
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
