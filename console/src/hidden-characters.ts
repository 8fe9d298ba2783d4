// Makes invisible and direction-changing characters visible: controls, bidi marks, zero-width
// spaces. All untrusted text goes through here; the result is still plain text.
export type Piece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'hidden'; readonly name: string };

// Controls (except tab and line feed), soft hyphen, Arabic letter mark, Hangul fillers, Mongolian
// vowel separator, zero-width space, bidi marks and overrides, line and paragraph separators, word
// joiner, byte order mark, annotation marks, tags, and lone surrogates.
const hidden =
  // oxlint-disable-next-line no-control-regex -- The pattern matches control characters.
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}\p{Cs}]/gu;

// Zero-width joiners are meaningful in many scripts and in emoji, but not next to ASCII.
const strayJoiner =
  /(?<=^|[ -~])[\u200c\u200d]+|[\u200c\u200d]+(?=$|[ -~])|(?<=[\u200c\u200d])[\u200c\u200d]+/gu;

/** Splits the text; each hidden character becomes its name: `U+202E`. */
export function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (const { 0: found, index } of marksIn(text)) {
    if (index < from) continue;
    if (index > from) pieces.push({ kind: 'text', text: text.slice(from, index) });
    for (const char of found) pieces.push({ kind: 'hidden', name: nameOf(char) });
    from = index + found.length;
  }
  if (from < text.length) pieces.push({ kind: 'text', text: text.slice(from) });
  return pieces;
}

/** The same as a single string, for titles and labels. */
export function visible(text: string): string {
  return piecesOf(text)
    .map((piece) => (piece.kind === 'text' ? piece.text : `⟨${piece.name}⟩`))
    .join('');
}

function marksIn(text: string): RegExpExecArray[] {
  const marks = [...text.matchAll(hidden), ...text.matchAll(strayJoiner)];
  return marks.sort((one, other) => one.index - other.index);
}

function nameOf(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}
