// How commands show results: the same colours, times and list endings everywhere.
import { circleFinder } from '../../client/listing.ts';
import type { Listing } from '../../client/client.ts';
import { limits } from '../../core/limits/limits.ts';
import type { Invocation } from '../declare/command.ts';
import { calledWrongly, CliFailure } from '../terminal/failure.ts';
import { type Paint, painter, type Style } from '../terminal/text.ts';
import { facts, table, type Column, type Fact } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { exactTime, relativeTime } from '../terminal/when.ts';

export interface View {
  paint: Paint;
  /** For a cell: relative on a terminal, absolute elsewhere. */
  when: (at: string | null | undefined) => string;
  /** For a fact: the absolute time, followed by the relative one. */
  exactly: (at: string | null | undefined) => string | undefined;
  table: <Row>(columns: readonly Column<Row>[], rows: readonly Row[]) => string;
  facts: (pairs: readonly Fact[]) => string;
}

export function viewOf(terminal: Terminal): View {
  const paint = painter(terminal);
  const nowMs = terminal.world.nowMs();
  const options = { width: terminal.width(), paintTitle: (text: string) => paint('dim', text) };
  return {
    paint,
    when: (at) => (terminal.isTerminal ? relativeTime(at, nowMs) : (at ?? '')),
    exactly: (at) => exactTime(at, nowMs),
    table: (columns, rows) => table(columns, rows, options),
    facts: (pairs) => facts(pairs, options),
  };
}

export function json(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

/** Colours of all states. */
export function paintState(paint: Paint, state: string, text = state): string {
  const style = states[state];
  return style === undefined ? text : paint(style, text);
}

/** The second column of lists of things with a state. */
export function stateColumn(paint: Paint): Column<{ state: string }> {
  return {
    title: 'STATE',
    show: ({ state }) => state,
    paint: ({ state }, text) => paintState(paint, state, text),
    rank: 9,
  };
}

const states: Readonly<Record<string, Style>> = {
  active: 'green',
  delivered: 'green',
  done: 'green',
  ok: 'green',
  due: 'cyan',
  running: 'cyan',
  paused: 'yellow',
  unconfirmed: 'yellow',
  failing: 'yellow',
  dead: 'red',
  disabled: 'red',
  open: 'red',
  expired: 'yellow',
  ended: 'dim',
  revoked: 'dim',
  cancelled: 'dim',
};

export interface List<Item> {
  /** Returns a listing with pages of `limit` items. */
  list: (limit: number) => Listing<Item>;
  columns: readonly Column<Item>[];
  /** Printed if the list is empty: that it is, and what to do. */
  none: string;
  /** With --json each item is a line, and all are printed unless --limit is given: an export. */
  isLines?: boolean;
}

/** Prints page by page, because a list may be longer than memory. */
export async function showList<Item>(
  call: Invocation,
  terminal: Terminal,
  { list, columns, none, isLines = false }: List<Item>,
): Promise<void> {
  if (call.isOn('all') && call.count('limit') !== undefined) {
    throw calledWrongly('Cannot combine --all and --limit: give only one');
  }
  const isExport = call.isJson && isLines;
  const most = isExport || call.isOn('all') ? Infinity : limits.pageItemsDefault;
  const max = call.count('limit') ?? most;
  const view = viewOf(terminal);
  let shown = 0;
  let cursor: string | null | undefined = call.text('cursor');
  let isFirst = true;
  const isRound = circleFinder();
  do {
    const limit = Math.min(max - shown, limits.pageItemsMax);
    const { items, nextCursor } = await list(limit).page(cursor);
    if (isExport) {
      terminal.out(items.map(json).join(''));
    } else if (call.isJson) {
      const head = isFirst ? '{"items":[' : '';
      const comma = shown > 0 && items.length > 0 ? ',' : '';
      terminal.out(head + comma + items.map((item) => JSON.stringify(item)).join(','));
    } else if (items.length > 0) {
      const text = view.table(columns, items);
      terminal.out(shown === 0 ? text : text.slice(text.indexOf('\n') + 1));
    }
    isFirst = false;
    shown += items.length;
    cursor = nextCursor ?? undefined;
    if (cursor !== undefined && shown < max && isRound(cursor)) {
      throw new CliFailure(
        'Cannot list everything: the service returned a cursor that was already used.',
      );
    }
  } while (cursor !== undefined && shown < max);
  if (isExport) return;
  if (call.isJson) return terminal.out(`],"nextCursor":${JSON.stringify(cursor ?? null)}}\n`);
  if (shown === 0) terminal.err(`${none}\n`);
  else if (cursor !== undefined)
    terminal.err('More results exist: use --all, or a larger --limit.\n');
}
