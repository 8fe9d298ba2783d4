// The columns that hold figures, and how figures become values of them and back. Both tables of figures
// have the same ones, except that a subscription publishes nothing and nobody counts its revivals.
import type { CountName, Figures } from '../core/figures.ts';
import { countNames, noFigures } from '../core/figures.ts';
import { bucketCount } from '../core/latency.ts';
import type { Row } from './row.ts';
import { integer } from './row.ts';

const ofSubscription = ['made', 'delivered', 'retried', 'dead', 'cancelled'] as const;
const buckets = Array.from({ length: bucketCount }, (_, bucket) => `l${bucket}`);

export interface FigureColumns {
  counts: readonly CountName[];
  /** Counts first, then buckets. */
  all: readonly string[];
}

export const appColumns: FigureColumns = { counts: countNames, all: [...countNames, ...buckets] };
export const subscriptionColumns: FigureColumns = {
  counts: ofSubscription,
  all: [...ofSubscription, ...buckets],
};

/** `do update set` of what is there already: always increments, because a commit may be in doubt. */
export function increments(table: string, columns: readonly string[]): string {
  return columns.map((column) => `${column} = ${table}.${column} + excluded.${column}`).join(', ');
}

export function sums(columns: readonly string[]): string {
  return columns.map((column) => `sum(${column}) as ${column}`).join(', ');
}

/** In the order of the columns. */
export function figureValues({ counts }: FigureColumns, figures: Figures): number[] {
  return [...counts.map((name) => figures.counts[name]), ...figures.took];
}

/** Columns that the row does not have count as nothing. */
export function toFigures(row: Row, { counts }: FigureColumns): Figures {
  const figures = noFigures();
  for (const name of counts) figures.counts[name] = integer(row, name);
  figures.took = buckets.map((bucket) => integer(row, bucket));
  return figures;
}
