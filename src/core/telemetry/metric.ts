// Metrics as plain values: counters by label, histograms by bucket. Counting must cost next to
// nothing; `expose` prints them when Prometheus scrapes.
import { limits } from '../limits/limits.ts';

export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  labels: Labels;
  value: number;
}

/** Name and help text of a metric. */
export interface Title {
  name: string;
  help: string;
}

/** All samples of one name. */
export type Family = Title &
  (
    | { type: 'counter' | 'gauge'; samples: readonly Sample[] }
    | { type: 'histogram'; histograms: readonly Distribution[] }
  );

export interface Distribution {
  labels: Labels;
  histogram: Histogram;
}

export interface Histogram {
  /** Upper bounds, each inclusive. */
  readonly bounds: readonly number[];
  /** One more than `bounds`: the last bucket has no upper bound. Not cumulative. */
  readonly counts: number[];
  sum: number;
}

export function createHistogram(bounds: readonly number[]): Histogram {
  return { bounds, counts: Array.from({ length: bounds.length + 1 }, () => 0), sum: 0 };
}

export function observe(histogram: Histogram, value: number): void {
  const { bounds, counts } = histogram;
  let bucket = 0;
  while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket += 1;
  counts[bucket] = (counts[bucket] ?? 0) + 1;
  histogram.sum += value;
}

/** Items of one kind by the values of at most two labels. */
export interface Labelled<T> {
  /** The item with these label values, in the order of the names; created when missing. */
  of(first?: string, second?: string): T;
  all(): { labels: Labels; it: T }[];
}

/**
 * Label values come from lists that the program or a contract knows. If one ever comes from
 * elsewhere, label sets beyond the limit count together as `other`, so a scrape stays bounded. Two
 * nested maps, because building one key from two strings costs as much as everything else here.
 */
export function labelled<T>(names: readonly string[], make: () => T): Labelled<T> {
  const known = new Map<string, Map<string, T>>();
  let size = 0;
  const makeOne = (first: string, second: string): T => {
    if (size >= limits.seriesMax && first !== other) return find(other, other);
    size += 1;
    const it = make();
    const inner = known.get(first) ?? new Map<string, T>();
    known.set(first, inner.set(second, it));
    return it;
  };
  const find = (first: string, second: string): T =>
    known.get(first)?.get(second) ?? makeOne(first, second);
  return {
    of: (first = '', second = '') => find(first, second),
    all: () =>
      Array.from(known).flatMap(([first, inner]) =>
        Array.from(inner, ([second, it]) => {
          const values = [first, second];
          const labels = Object.fromEntries(
            names.map((name, index) => [name, values[index] ?? ''] as const),
          );
          return { labels, it };
        }),
      ),
  };
}

const other = 'other';

export interface Counter {
  count: number;
}

export function counters(...names: readonly string[]): Labelled<Counter> {
  return labelled(names, () => ({ count: 0 }));
}

export function counterFamily(title: Title, all: Labelled<Counter>): Family {
  const samples = all.all().map(({ labels, it }) => ({ labels, value: it.count }));
  return { ...title, type: 'counter', samples };
}

export function histogramFamily(title: Title, all: Labelled<Histogram>): Family {
  const histograms = all.all().map(({ labels, it }) => ({ labels, histogram: it }));
  return { ...title, type: 'histogram', histograms };
}

export function counter(title: Title, value: number): Family {
  return { ...title, type: 'counter', samples: [{ labels: {}, value }] };
}

export function gauge(title: Title, value: number): Family {
  return { ...title, type: 'gauge', samples: [{ labels: {}, value }] };
}

/** A gauge with one label. */
export function gaugeBy(
  label: string,
  title: Title,
  values: Readonly<Record<string, number>>,
): Family {
  return { ...title, type: 'gauge', samples: samplesBy(label, values) };
}

export function counterBy(
  label: string,
  title: Title,
  values: Readonly<Record<string, number>>,
): Family {
  return { ...title, type: 'counter', samples: samplesBy(label, values) };
}

function samplesBy(label: string, values: Readonly<Record<string, number>>): Sample[] {
  return Object.entries(values).map(([key, value]) => ({ labels: { [label]: key }, value }));
}

// The Prometheus text format, version 0.0.4.
// https://prometheus.io/docs/instrumenting/exposition_formats/

export const expositionMediaType = 'text/plain; version=0.0.4';

/** Families without samples are listed too, so that a scraper knows of them. */
export function expose(families: readonly Family[]): string {
  return families.map((family) => `${linesOf(family).join('\n')}\n`).join('');
}

function linesOf(family: Family): string[] {
  const { name, help, type } = family;
  const head = [`# HELP ${name} ${escapeHelp(help)}`, `# TYPE ${name} ${type}`];
  const samples =
    family.type === 'histogram'
      ? family.histograms.flatMap((one) => distribution(name, one))
      : family.samples.map(({ labels, value }) => line(name, labels, value));
  return [...head, ...samples];
}

/** Buckets are cumulative: each one includes those below it. */
function distribution(name: string, { labels, histogram }: Distribution): string[] {
  const { bounds, counts, sum } = histogram;
  let total = 0;
  const buckets = counts.map((count, index) => {
    total += count;
    const bound = bounds[index];
    const le = bound === undefined ? '+Inf' : String(bound);
    return line(`${name}_bucket`, { ...labels, le }, total);
  });
  return [...buckets, line(`${name}_sum`, labels, sum), line(`${name}_count`, labels, total)];
}

function line(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([key, text]) => `${key}="${escapeLabel(text)}"`);
  const shown = pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
  return `${name}${shown} ${number(value)}`;
}

function number(value: number): string {
  if (value === Infinity) return '+Inf';
  return value === -Infinity ? '-Inf' : String(value);
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', String.raw`\\`).replaceAll('\n', String.raw`\n`);
}

function escapeLabel(text: string): string {
  return escapeHelp(text).replaceAll('"', String.raw`\"`);
}
