// The columns of figures, and the conversion in both directions. The tables of apps and of
// subscriptions have the same columns, except that subscriptions count neither publishes nor
// revivals.
import {
  bucketCount,
  type CountName,
  countNames,
  noStatistics,
  type Statistics,
} from '../../core/telemetry/statistics.ts';
import type { Row } from '../sql/row.ts';
import { integer } from '../sql/row.ts';

const ofSubscription = ['made', 'delivered', 'retried', 'dead', 'cancelled'] as const;
const buckets = Array.from({ length: bucketCount }, (_, bucket) => `l${bucket}`);

export interface StatisticsColumns {
  counts: readonly CountName[];
  /** Counts first, then buckets. */
  all: readonly string[];
}

export const appColumns: StatisticsColumns = {
  counts: countNames,
  all: [...countNames, ...buckets],
};
export const subscriptionColumns: StatisticsColumns = {
  counts: ofSubscription,
  all: [...ofSubscription, ...buckets],
};

/**
 * The `do update set` clause for an existing row. Always increments, since a repeated write after a
 * commit in doubt must not overwrite.
 */
export function increments(table: string, columns: readonly string[]): string {
  return columns.map((column) => `${column} = ${table}.${column} + excluded.${column}`).join(', ');
}

export function sums(columns: readonly string[]): string {
  return columns.map((column) => `sum(${column}) as ${column}`).join(', ');
}

/** In the order of the columns. */
export function statisticsValues({ counts }: StatisticsColumns, figures: Statistics): number[] {
  return [...counts.map((name) => figures.counts[name]), ...figures.took];
}

/** Columns that the row does not have count as 0. */
export function toStatistics(row: Row, { counts }: StatisticsColumns): Statistics {
  const figures = noStatistics();
  for (const name of counts) figures.counts[name] = integer(row, name);
  figures.took = buckets.map((bucket) => integer(row, bucket));
  return figures;
}
