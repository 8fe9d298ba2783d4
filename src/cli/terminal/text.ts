// Text for a terminal: colours for a screen only, foreign text escaped so that a terminal
// interprets none of it, and lines wrapped to its width.
import { styleText } from 'node:util';
import type { Terminal } from './terminal.ts';

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

export type Paint = (style: Style, text: string) => string;

export function painter({ isScreen }: Pick<Terminal, 'isScreen'>): Paint {
  return isScreen ? coloured : plain;
}

/** The same for stderr. */
export function logPainter({ log }: Pick<Terminal, 'log'>): Paint {
  return log.isColoured ? coloured : plain;
}

function coloured(style: Style, text: string): string {
  return text === '' ? '' : styleText(style, text, { validateStream: false });
}

function plain(_style: Style, text: string): string {
  return text;
}

/** Always returns a single line. */
export function harmless(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`,
  );
}

/** The same, but keeps line breaks and tabs. */
export function harmlessLines(text: string): string {
  return text
    .split('\n')
    .map((line) => line.replace(/\r$/, '').split('\t').map(harmless).join('\t'))
    .join('\n');
}

/**
 * Breaks at spaces; a word that is too long gets its own line. Continuation lines keep the indent.
 */
export function wrap(text: string, room: number): string[] {
  const [indent = ''] = /^ */.exec(text) ?? [];
  const lines: string[] = [];
  let line = '';
  for (const word of text.slice(indent.length).split(' ')) {
    if (line !== '' && indent.length + line.length + 1 + word.length > room) {
      lines.push(indent + line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, indent + line];
}

/** Wraps sentences for a terminal, and never wider than is readable. */
export function filled(text: string, width: number): string {
  const room = Number.isFinite(width)
    ? Math.max(lineCharsMin, Math.min(width, lineCharsMax))
    : width;
  return text
    .split('\n')
    .flatMap((line) => wrap(line, room))
    .join('\n');
}

const lineCharsMin = 40;
const lineCharsMax = 100;
