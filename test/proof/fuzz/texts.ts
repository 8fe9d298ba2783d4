// Texts, numbers and bytes that often expose bugs, drawn by seed.
import type { Chance } from '../sim/chance.ts';

const odd = [
  'ü',
  '汉字',
  '😀',
  'e\u0301',
  '\u202Eabc',
  '\u200B',
  '\uFEFF',
  '\uFFFD',
  "' or 1=1 --",
  '"; drop table event; --',
  '%',
  '_',
  '\\',
  '${x}',
  '{{7*7}}',
  '<b>&amp;',
  '../../etc/passwd',
  '__proto__',
  'constructor',
  'null',
  'NaN',
  '0',
  '-1',
  '1e999',
  ' a b ',
] as const;

/** Control characters and lone surrogates, which some fields refuse. */
const unprintable = [
  '\u0000',
  '\u0001',
  '\n',
  '\t',
  '\u007f',
  '\u0085',
  '\ud800',
  '\udc00x',
] as const;

/** From `least` to `most` code points; the limits themselves are drawn more often. */
export function drawText(chance: Chance, least: number, most: number): string {
  const length = drawCount(chance, least, most);
  let text = '';
  let count = 0;
  while (count < length) {
    const piece = chance.isLucky(0.3) ? chance.pick(odd) : chance.pick(letters);
    const chars = Array.from(piece).slice(0, length - count);
    text += chars.join('');
    count += chars.length;
  }
  return text;
}

const letters = Array.from('abcdefghijklmnopqrstuvwxyzABCXYZ0123456789_- .,:/');

/** Like `drawText`, but may contain unprintable characters. */
export function drawWildText(chance: Chance, least: number, most: number): string {
  const text = drawText(chance, least, Math.max(least, most - 2));
  if (!chance.isLucky(0.4)) return text;
  const at = chance.whole(0, text.length);
  return text.slice(0, at) + chance.pick(unprintable) + text.slice(at);
}

const usualMost = 24;

/** A limit or a small number: a body of a thousand items finds no more than one of ten. */
export function drawCount(chance: Chance, least: number, most: number): number {
  const luck = chance.next();
  if (luck < 0.06) return least;
  if (luck < 0.08) return most;
  return chance.whole(least, Math.max(least, Math.min(most, least + usualMost)));
}

export function drawInteger(chance: Chance, least: number, most: number): number {
  const luck = chance.next();
  if (luck < 0.15) return least;
  if (luck < 0.3) return most;
  if (luck < 0.6) return chance.whole(least, Math.min(most, least + 10));
  return chance.whole(least, most);
}

export const oddNumbers = [
  0,
  -0,
  -1,
  1.5,
  1e21,
  -1e21,
  2 ** 31,
  2 ** 32,
  2 ** 53,
  2 ** 63,
  5e-324,
  1.7976931348623157e308,
];

/** Any JSON value, a few levels deep at most. */
export function drawJson(chance: Chance, depth = 3): unknown {
  switch (chance.whole(0, depth > 0 ? 7 : 4)) {
    case 0:
      return null;
    case 1:
      return chance.isLucky(0.5);
    case 2:
      return chance.pick(oddNumbers);
    case 3:
    case 4:
      return drawWildText(chance, 0, 40);
    case 5:
      return Array.from({ length: chance.whole(0, 3) }, () => drawJson(chance, depth - 1));
    default:
      return Object.fromEntries(
        Array.from({ length: chance.whole(0, 3) }, () => [
          drawText(chance, 0, 6),
          drawJson(chance, depth - 1),
        ]),
      );
  }
}
