// A table for people: columns side by side, no wider than the terminal. Narrow terminals first get shorter
// texts, then fewer columns. Nothing in it is obeyed by a terminal but the colours that columns ask for.
import { harmless } from './harmless.ts';

export interface Column<Row> {
  title: string;
  show: (row: Row) => string;
  /** What the terminal shows it in. */
  paint?: (row: Row, text: string) => string;
  /** Columns of lower rank leave first where there is no room for all. The first column never leaves. */
  rank?: number;
  /** The text may be cut, down to so many characters, before any column leaves. */
  shrinksTo?: number;
  isRight?: boolean;
}

export interface TableOptions {
  /** Columns of the terminal; Infinity where nothing needs to fit. */
  width: number;
  paintTitle?: (text: string) => string;
}

/** Lines with their ends, the titles first; no trailing blanks. */
export function table<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  { width, paintTitle = (text) => text }: TableOptions,
): string {
  const all = columns.map((column) => measure(column, rows));
  const shown = fit(Number.isFinite(width) ? all.filter(isTelling) : all, width);
  const last = shown.at(-1);
  const cell = (one: Measured<Row>, text: string, paint: (cut: string) => string): string => {
    const cut = cutTo(text, one.width);
    const blank = ' '.repeat(Math.max(0, one.width - textWidth(cut)));
    if (one.column.isRight === true) return blank + paint(cut);
    return one === last ? paint(cut) : paint(cut) + blank;
  };
  const head = joined(shown.map((one) => cell(one, one.column.title, paintTitle)));
  const body = rows.map((row, at) =>
    joined(
      shown.map((one) => {
        const { paint } = one.column;
        return cell(one, one.texts[at] ?? '', (cut) =>
          paint === undefined ? cut : paint(row, cut),
        );
      }),
    ),
  );
  return head + body.join('');
}

function joined(cells: readonly string[]): string {
  return `${cells.join(gap).trimEnd()}\n`;
}

export type Fact = readonly [
  name: string,
  /** Undefined and empty ones are left out. */
  value: string | undefined,
  paint?: (text: string) => string,
];

/** Names and what they are, one below the other; a value of several lines stays in its column. */
export function facts(
  pairs: readonly Fact[],
  { width, paintTitle = (text) => text }: TableOptions,
): string {
  const given = pairs.filter(([, value]) => value !== undefined && value !== '');
  const left = Math.max(0, ...given.map(([name]) => textWidth(name)));
  const room = Math.max(1, width - left - gap.length);
  return given
    .flatMap(([name, value = '', paint = (text) => text]) =>
      wrap(value, room).map((text, at) => {
        const title = at === 0 ? name : '';
        const blank = ' '.repeat(left - textWidth(title));
        return `${paintTitle(title)}${blank}${gap}${paint(text)}`.trimEnd();
      }),
    )
    .map((line) => `${line}\n`)
    .join('');
}

/** Columns that a text takes on a terminal: wide characters take two, marks none. */
export function textWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of segmenter.segment(text)) width += graphemeWidth(segment);
  return width;
}

/** At most so wide, the last character a … when something is left out. */
export function cutTo(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  let kept = '';
  let used = 0;
  for (const { segment } of segmenter.segment(text)) {
    used += graphemeWidth(segment);
    if (used > width - 1) break;
    kept += segment;
  }
  return width < 1 ? '' : `${kept}…`;
}

const gap = '  ';
const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });
const wide =
  /[\p{sc=Han}\p{sc=Hangul}\p{sc=Hiragana}\p{sc=Katakana}\p{Emoji_Presentation}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]|\p{Emoji}\ufe0f/u;
const marksOnly = /^\p{M}*$/u;

function graphemeWidth(grapheme: string): number {
  if (wide.test(grapheme)) return 2;
  return marksOnly.test(grapheme) ? 0 : 1;
}

interface Measured<Row> {
  column: Column<Row>;
  texts: readonly string[];
  width: number;
}

function measure<Row>(column: Column<Row>, rows: readonly Row[]): Measured<Row> {
  const texts = rows.map((row) => harmless(column.show(row)));
  const width = Math.max(textWidth(column.title), ...texts.map(textWidth));
  return { column, texts, width };
}

/** A column without a word in it only takes room from the others; programs want it all the same. */
function isTelling<Row>({ texts }: Measured<Row>, at: number): boolean {
  return at === 0 || texts.some((text) => text !== '');
}

/** Shortens what may be short, the widest first; then drops columns; at last cuts the first one. */
function fit<Row>(all: readonly Measured<Row>[], width: number): Measured<Row>[] {
  const shrunk = shrink(all, width);
  if (total(shrunk) <= width) return shrunk;
  const [first, ...others] = all;
  if (first === undefined) return [];
  const leaving = others.reduce<Measured<Row> | undefined>(
    (least, one) => (least === undefined || rank(one) < rank(least) ? one : least),
    undefined,
  );
  if (leaving === undefined) return [{ ...first, width: Math.max(1, width) }];
  return fit(
    all.filter((one) => one !== leaving),
    width,
  );
}

function shrink<Row>(all: readonly Measured<Row>[], width: number): Measured<Row>[] {
  let over = total(all) - width;
  const slack = ({ column, width: now }: Measured<Row>): number =>
    column.shrinksTo === undefined ? 0 : Math.max(0, now - column.shrinksTo);
  const widths = new Map(all.map((one) => [one, one.width]));
  for (const one of [...all].sort((a, b) => slack(b) - slack(a))) {
    const taken = Math.min(Math.max(0, over), slack(one));
    widths.set(one, one.width - taken);
    over -= taken;
  }
  return all.map((one) => ({ ...one, width: widths.get(one) ?? one.width }));
}

function total<Row>(all: readonly Measured<Row>[]): number {
  return all.reduce((sum, { width }) => sum + width, 0) + gap.length * Math.max(0, all.length - 1);
}

function rank<Row>({ column }: Measured<Row>): number {
  return column.rank ?? 0;
}

/** Nothing is left out of a fact: what does not fit goes on in the next line. */
function wrap(text: string, room: number): string[] {
  const lines = text.split('\n').map(harmless);
  return lines.flatMap((line) => broken(line, room));
}

function broken(line: string, room: number): string[] {
  if (textWidth(line) <= room) return [line];
  const lines: string[] = [];
  let now = '';
  let used = 0;
  for (const { segment } of segmenter.segment(line)) {
    const width = graphemeWidth(segment);
    if (used + width > room && now !== '') {
      lines.push(now);
      now = '';
      used = 0;
    }
    now += segment;
    used += width;
  }
  return [...lines, now];
}
