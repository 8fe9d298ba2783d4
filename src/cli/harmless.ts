// Text of others, made fit for a terminal: what it would obey, or hide, is shown by its number. Every line
// that holds a name, an address or an answer from outside goes through here.

export function harmless(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(
      /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
      (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`,
    );
}
