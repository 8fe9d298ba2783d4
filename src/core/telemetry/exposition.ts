// The Prometheus text format, version 0.0.4.
// https://prometheus.io/docs/instrumenting/exposition_formats/
import type { Distribution, Family, Labels } from './metric.ts';

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
