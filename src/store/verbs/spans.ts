// Slices in the order of time: each stretch is where one slice begins, and names all slices that reach
// into it. Nodes write into slices of their own, so on PostgreSQL several lie side by side.
import { limits } from '../../core/limits.ts';
import type { Position } from '../cursor.ts';
import type { Row } from '../row.ts';
import { integer, text } from '../row.ts';
import type { Value } from '../statement.ts';
import { all, forEach } from '../statement.ts';
import type { Bounds } from './bounds.ts';
import type { Walk } from './fill-page.ts';
import type { Step, Stretch } from './walk.ts';

export const spansSql = {
  below: `
    select slice, first_event, last_event from slice_span
    where first_event < ?1 and last_event >= ?2 order by first_event desc limit ?3 + 0`,
  reaching: `
    select slice, first_event, last_event from slice_span
    where first_event < ?1 and last_event >= ?1`,
  hasEvents: `
    select ?1 + 0 as tag from event
    where slice = ?2 and app = ?3 and name >= ?4 and name <= ?5 and id >= ?6 and id <= ?7 limit 1`,
  hasLive: 'select ?1 + 0 as tag from delivery_live where slice = ?2 and app = ?3 limit 1',
} as const;

export interface Range {
  below: Position;
  /** The first event that counts; what is older is left out. */
  from: string;
}

/** What an app must have in a stretch: events of such names, or anything that waits or runs. */
export type Presence =
  | { of: 'events'; appNo: number; names: Bounds<string> }
  | { of: 'live'; appNo: number };

interface Span {
  slice: number;
  first: string;
  last: string;
}

export function* walkSpans({ below, from }: Range, presence?: Presence): Walk<Stretch | Step> {
  let at = below;
  for (;;) {
    const most = limits.pieceLooksMax;
    const spans = (yield* all(spansSql.below, aboveAll(at), from, most)).map(toSpan);
    const oldest = spans.at(-1);
    if (oldest === undefined) return;
    const reaching = yield* all(spansSql.reaching, oldest.first);
    const known = [...spans, ...reaching.map(toSpan)];
    const stretches: Stretch[] = [];
    for (const { first } of spans) {
      const begins = first < from ? from : first;
      const upper = aboveAll(at);
      const over = known.filter((span) => span.first < upper && span.last >= begins);
      stretches.push({ below: at, from: begins, slices: over.map(({ slice }) => slice) });
      at = { event: begins, n: 0 };
      if (begins === from) break;
    }
    yield* presence === undefined ? stretches : present(stretches, presence);
    if (spans.length < most || at.event === from) return;
  }
}

/** Stretches that have nothing are steps. */
function* present(stretches: readonly Stretch[], presence: Presence): Walk<Stretch | Step> {
  const { of, appNo } = presence;
  const sql = of === 'live' ? spansSql.hasLive : spansSql.hasEvents;
  const each = stretches.flatMap(({ below, from, slices }, tag) =>
    slices.map((slice): Value[] => {
      const more = of === 'live' ? [] : [...presence.names, from, below.event];
      return [tag, slice, appNo, ...more];
    }),
  );
  const tags = new Set((yield* forEach(sql, each)).map((row) => integer(row, 'tag')));
  for (const [tag, one] of stretches.entries()) {
    if (tags.has(tag)) yield one;
    else yield { event: one.from, n: 0, fits: false, cost: limits.lookRows };
  }
}

/** A text that all events sort below of which something lies below a position. */
export function aboveAll({ event, n }: Position): string {
  return n === 0 ? event : `${event}0`;
}

function toSpan(row: Row): Span {
  return {
    slice: integer(row, 'slice'),
    first: text(row, 'first_event'),
    last: text(row, 'last_event'),
  };
}
