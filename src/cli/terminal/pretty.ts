// Formats a log line for people: time, level, message, then its facts in one row. Input is a JSON
// line without secrets; output has no foreign control characters.
import { harmless } from './harmless.ts';
import { painter, type Paint, type Style } from './paint.ts';

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
    ([key, value]) => `${paint('dim', `${harmless(key)}=`)}${show(value)}`,
  );
  return `${[...head, ...shown].join(' ')}${trouble(err, paint)}\n`;
}

/** The stack of an error, below its line. */
function trouble(err: unknown, paint: Paint): string {
  if (!isObject(err)) return err === undefined ? '' : ` err=${show(err)}`;
  const stack = typeof err['stack'] === 'string' ? err['stack'] : show(err);
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
function show(value: unknown): string {
  if (typeof value === 'string' && /^[\x21\x23-\x7e]+$/.test(value)) return value;
  return harmless(JSON.stringify(value) ?? '');
}
