// A table for people, no wider than the terminal. Narrow terminals get shorter cells first, then
// fewer columns. Cells are escaped; only the colours of `paint` reach the terminal.
import { harmless } from './text.ts';

export interface Column<Row> {
  title: string;
  show: (row: Row) => string;
  /** Colours the text on a terminal. */
  paint?: (row: Row, text: string) => string;
  /**
   * If there is no room, columns of lower rank are dropped first. The first column is never
   * dropped.
   */
  rank?: number;
  /** The text may be cut to this width before any column is dropped. */
  shrinksTo?: number;
  isRight?: boolean;
}

export interface TableOptions {
  /** The width of the terminal; Infinity if nothing needs to fit. */
  width: number;
  paintTitle?: (text: string) => string;
}

/** Lines with line breaks, titles first; no trailing blanks. */
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
  /** Undefined and empty values are left out. */
  value: string | undefined,
  paint?: (text: string) => string,
];

/** Names and values, one per line; a multi-line value stays in its column. */
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

/** The width of a text on a terminal: wide characters take two columns, combining marks none. */
export function textWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of segmenter.segment(text)) width += graphemeWidth(segment);
  return width;
}

/** Cuts a text to this width, ending in … if something is left out. */
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

/** On a terminal, empty columns are dropped; programs get them all the same. */
function isTelling<Row>({ texts }: Measured<Row>, at: number): boolean {
  return at === 0 || texts.some((text) => text !== '');
}

/** Shortens columns, the widest first; then drops some; finally cuts the first one. */
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

/** A fact is never cut: what does not fit wraps to the next line. */
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
