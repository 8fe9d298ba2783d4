// The log of the process: one wide line per fact on stderr, as JSON or, on a terminal,
// human-readable. Secrets are removed here, whatever part wrote the line. A slow or broken pipe
// loses lines; it must never block or end the service.
import { type Logger, pino } from 'pino';
import type { LogFormat, LogLevel } from '../../config/readers.ts';
import type { World } from '../../core/base/world.ts';
import { limits } from '../../core/limits/limits.ts';
import { redact, withoutPaths } from '../../core/secrets/redact.ts';
import type { LogFact } from '../../core/telemetry/log-fact.ts';
import { harmless, type Paint, painter, type Style } from '../terminal/text.ts';

export interface LogOptions {
  level: LogLevel;
  format: LogFormat;
  /** Whether stderr is a terminal, and may be coloured. */
  isTerminal: boolean;
  isColoured: boolean;
}

export interface ProcessLog extends AsyncDisposable {
  log: Logger;
  logFact: LogFact;
}

export function openLog(options: LogOptions, world: Pick<World, 'sleep' | 'nowMs'>): ProcessLog {
  const { logBytesWaitingMax: maxLength } = limits;
  // With `minLength`, a flush waits until everything is written.
  let isGivenUp = false;
  const file = pino.destination({
    dest: 2,
    sync: false,
    minLength: 1,
    maxLength,
    // A full pipe is retried forever, even after the end, and would keep the process alive.
    retryEAGAIN: () => !isGivenUp,
  });
  // pino has handled the broken pipe, and a full one drops lines; there is nowhere to report
  // either.
  file.on('error', () => undefined);
  const lines = gatherLines((text) => file.write(text), world);
  return {
    ...createLog(options, world, (line) => lines.add(line)),
    [Symbol.asyncDispose]: async () => {
      lines.flush();
      const given = new AbortController();
      const patience = world.sleep(limits.logFlushMs, given.signal).catch(() => undefined);
      await Promise.race([flushed(file), patience]);
      given.abort();
      isGivenUp = true;
      file.destroy();
    },
  };
}

/**
 * Batches lines: a busy service writes one for every request, and a write for each took 9 of its 25
 * µs. Anything but a plain fact is written at once, because it may be the last line before a crash.
 */
function gatherLines(
  write: (text: string) => void,
  world: Pick<World, 'sleep'>,
): { add(line: string): void; flush(): void } {
  let waiting = '';
  const flush = (): void => {
    if (waiting !== '') write(waiting);
    waiting = '';
  };
  return {
    add: (line) => {
      if (waiting === '') void world.sleep(limits.logGatherMs).then(flush);
      waiting += line;
      if (!line.startsWith(factStart) || waiting.length >= limits.logGatherChars) flush();
    },
    flush,
  };
}

const factStart = '{"level":30,';
const belowInfo = /^\{"level":[12]0,/;

/** `write` gets whole lines, ready for output. */
function createLog(
  { level, format, isTerminal, isColoured }: LogOptions,
  world: Pick<World, 'nowMs'>,
  write: (line: string) => void,
): { log: Logger; logFact: LogFact } {
  const isPretty = format === 'pretty' || (format === 'auto' && isTerminal);
  const show = isPretty ? (line: string) => prettyLine(line, { isColoured }) : undefined;
  const timestamp = timestamps(world);
  const log = pino(
    { level, base: null, timestamp },
    {
      write: (line: string) => {
        const safe = redact(line);
        const shown = belowInfo.test(safe) ? safe : withoutPaths(safe);
        write(show === undefined ? shown : show(shown));
      },
    },
  );
  const isBare = show === undefined && log.isLevelEnabled('info');
  const logFact: LogFact = (facts, message) => {
    if (!isBare) return log.info(facts, message);
    const text = JSON.stringify(facts).slice(1, -1); // Copying the facts to add the message takes longer.
    const last = `"msg":${JSON.stringify(message)}}\n`;
    write(`${factStart.slice(0, -1)}${timestamp()},${text === '' ? last : `${text},${last}`}`);
  };
  return { log, logFact };
}

/** Like pino's, but formatted once for all lines of a millisecond. */
function timestamps(world: Pick<World, 'nowMs'>): () => string {
  let [lastMs, text] = [0, ''];
  return () => {
    const nowMs = world.nowMs();
    if (nowMs === lastMs) return text;
    [lastMs, text] = [nowMs, `,"time":"${new Date(nowMs).toISOString()}"`];
    return text;
  };
}

async function flushed(file: ReturnType<typeof pino.destination>): Promise<void> {
  return new Promise((resolve) => {
    file.flush(() => resolve());
  });
}

// Formats a log line for people: time, level, message, then its facts in one row. Input is a JSON
// line without secrets; output has no foreign control characters.

export interface PrettyOptions {
  isColoured: boolean;
}

export function prettyLine(json: string, { isColoured }: PrettyOptions): string {
  const line = parse(json);
  if (line === undefined) return `${harmless(json.trimEnd())}\n`;
  const { level, time, msg, err, ...facts } = line;
  const paint = painter({ isScreen: isColoured });
  const name = levels.get(Number(level)) ?? levels.get(30);
  const head = [
    paint('dim', clock(time)),
    paint(name?.colour ?? 'dim', name?.text ?? ''),
    paint('bold', harmless(typeof msg === 'string' ? msg : '')),
  ];
  const shown = Object.entries(facts).map(
    ([key, value]) => `${paint('dim', `${harmless(key)}=`)}${valueText(value)}`,
  );
  return `${[...head, ...shown].join(' ')}${trouble(err, paint)}\n`;
}

/** The stack of an error, below its line. */
function trouble(err: unknown, paint: Paint): string {
  if (!isObject(err)) return err === undefined ? '' : ` err=${valueText(err)}`;
  const stack = typeof err['stack'] === 'string' ? err['stack'] : valueText(err);
  const lines = stack.split('\n').slice(0, stackLinesMax);
  return lines.map((one) => `\n    ${paint('red', harmless(one))}`).join('');
}

const stackLinesMax = 40;

const levels: ReadonlyMap<number, { text: string; colour: Style }> = new Map([
  [10, { text: 'TRACE', colour: 'dim' }],
  [20, { text: 'DEBUG', colour: 'dim' }],
  [30, { text: 'INFO ', colour: 'green' }],
  [40, { text: 'WARN ', colour: 'yellow' }],
  [50, { text: 'ERROR', colour: 'red' }],
  [60, { text: 'FATAL', colour: 'red' }],
]);

function parse(json: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined; // Shown unchanged.
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** The time of day, without the date. */
function clock(time: unknown): string {
  return typeof time === 'string' ? harmless(time.slice(11, 23)) : '';
}

/** Plain words unquoted; anything else as JSON, so that its end is visible. */
function valueText(value: unknown): string {
  if (typeof value === 'string' && /^[\x21\x23-\x7e]+$/.test(value)) return value;
  return harmless(JSON.stringify(value) ?? '');
}
