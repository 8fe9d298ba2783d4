// Escapes foreign text for a terminal: characters that it would interpret or hide are shown by
// their code point.

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
