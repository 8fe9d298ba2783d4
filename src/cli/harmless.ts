// Text of others on its way to a terminal: what a terminal would obey, or hide, is shown by its number.

/** One line of it, whatever it was. */
export function harmless(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`,
  );
}

/** The same, with its lines and tabs kept. */
export function harmlessLines(text: string): string {
  return text
    .split('\n')
    .map((line) => line.replace(/\r$/, '').split('\t').map(harmless).join('\t'))
    .join('\n');
}
