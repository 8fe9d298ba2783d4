// Colours, for a screen only: piped or stored output gets plain text.
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
