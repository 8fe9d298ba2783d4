// Text in lines that fit.

/** At spaces; a word that is too long stands alone. What a line begins with, its others begin with too. */
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

/** Sentences as they go to a terminal: no word is broken at its edge, and no line is longer than reads well. */
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
