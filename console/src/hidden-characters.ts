// Makes characters visible that hide or turn text: controls, direction marks, spaces without width.
// Text from outside goes through here; what comes out is still only text.
export type Piece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'hidden'; readonly name: string };

// Controls (but tab and line feed), soft hyphen, Arabic letter mark, Hangul fillers, Mongolian separator,
// zero width space, direction marks and turns, line and paragraph separators, joiners of words,
// byte order mark, annotation marks, tags, and halves of surrogate pairs.
const hidden =
  // oxlint-disable-next-line no-control-regex -- They are what is looked for.
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}\p{Cs}]/gu;

// Joiners have a meaning between letters of many scripts and in emoji, and none beside plain letters.
const strayJoiner =
  /(?<=^|[ -~])[\u200c\u200d]+|[\u200c\u200d]+(?=$|[ -~])|(?<=[\u200c\u200d])[\u200c\u200d]+/gu;

/** The text in pieces, each hidden character as its name: `U+202E`. */
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

/** The same as one text, for titles and labels. */
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
