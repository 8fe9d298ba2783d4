// Wraps text into lines that fit.

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
