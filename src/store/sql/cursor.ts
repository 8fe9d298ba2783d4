// Cursors of lists: the position of the last examined row, as text. Callers must treat them as
// opaque. Most lists are ordered by row number; events and deliveries by name; customers by theirs.
import { isCustomer } from '../../core/domain/pattern.ts';

/** The position of an event or a delivery in its list. */
export interface Position {
  event: string;
  n: number;
}

export type CursorKind = 'row' | 'position' | 'customer';

const shapes: Readonly<Record<CursorKind, RegExp>> = {
  row: /^[1-9][0-9]{0,14}$/,
  position: /^([0-7][0-9a-hjkmnp-tv-z]{25})_(0|[1-9][0-9]{0,8})$/,
  customer: /^~([\w-]{2,700})$/,
};

/** Whether text from outside can be a cursor, of any kind of list or of one kind. */
export function isCursor(cursor: string, kind?: CursorKind): boolean {
  const kinds: readonly CursorKind[] =
    kind === undefined ? ['row', 'position', 'customer'] : [kind];
  return kinds.some(
    (one) => shapes[one].test(cursor) && (one !== 'customer' || isCustomer(customerIn(cursor))),
  );
}

export function cursorAt(no: number): string {
  return String(no);
}

/** Where to continue, newest first: rows below this number. */
export function belowCursor(cursor: string | undefined): number {
  if (cursor === undefined) return Number.MAX_SAFE_INTEGER;
  if (!isCursor(cursor, 'row')) throw noCursor(cursor);
  return Number(cursor);
}

export function cursorAtPosition({ event, n }: Position): string {
  return `${event}_${n}`;
}

/** Where to continue, newest first: names below this one. */
export function belowPosition(cursor: string | undefined): Position {
  if (cursor === undefined) return { event: '~', n: 0 };
  const found = shapes.position.exec(cursor);
  if (found === null) throw noCursor(cursor);
  return { event: found[1] ?? '', n: Number(found[2]) };
}

export function cursorAtCustomer(customer: string): string {
  return `~${Buffer.from(customer).toString('base64url')}`;
}

/** Where to continue, in the order of names: customers behind this one. */
export function afterCustomer(cursor: string | undefined): string {
  if (cursor === undefined) return '';
  if (!isCursor(cursor, 'customer')) throw noCursor(cursor);
  return customerIn(cursor);
}

function customerIn(cursor: string): string {
  return Buffer.from(cursor.slice(1), 'base64url').toString();
}

function noCursor(cursor: string): TypeError {
  return new TypeError(`Cannot go on after "${cursor}": expected what a page gave as next`);
}
