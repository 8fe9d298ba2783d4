// A bar chart of the rows of a table, as an SVG for light and dark backgrounds.
import { printNumber } from '../harness/print-outcome.ts';

export interface Bar {
  name: string;
  value: number;
  low: number;
  high: number;
  isOurs: boolean;
}

const size = { width: 720, row: 40, left: 200, right: 90, top: 12 };

export function barChart(title: string, bars: readonly Bar[]): string {
  const height = size.top * 2 + bars.length * size.row;
  const most = Math.max(...bars.map(({ high }) => high));
  const lengthOf = (value: number): number =>
    Math.round((value / most) * (size.width - size.left - size.right));
  const rows = bars.map(({ name, value, low, high, isOurs }, i) => {
    const y = size.top + i * size.row;
    const middle = y + size.row / 2;
    const [from, to] = [size.left + lengthOf(low), size.left + lengthOf(high)];
    return `  <text x="${size.left - 12}" y="${middle + 4}" text-anchor="end">${escape(name)}</text>
  <rect x="${size.left}" y="${y + 8}" width="${lengthOf(value)}" height="${size.row - 16}" rx="3" class="${isOurs ? 'ours' : 'other'}"/>
  <path d="M${from} ${middle}H${to}M${from} ${middle - 4}v8M${to} ${middle - 4}v8" class="spread"/>
  <text x="${to + 10}" y="${middle + 4}">${printNumber(value)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${height}" role="img" aria-label="${escape(title)}">
  <title>${escape(title)}</title>
  <style>
    text { font: 14px system-ui, sans-serif; fill: #24292f; }
    .ours { fill: #2563eb; } .other { fill: #9aa4b2; } .spread { stroke: #24292f; fill: none; opacity: .55; }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3; } .ours { fill: #5b8def; } .other { fill: #5c6675; } .spread { stroke: #e6edf3; }
    }
  </style>
${rows.join('\n')}
</svg>
`;
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
