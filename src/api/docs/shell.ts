// Words of a shell command, quoted so that they mean only themselves: a document must not be able
// to make anybody paste a command that is not the one shown.
import { withoutControls } from './value.ts';

/** Text that means itself, or a variable of the reader's shell. */
export type Piece = string | { variable: string };

/** `'plain text'`, `"Key: $KEY"`, or both side by side where one alone would not be safe. */
export function quote(...pieces: readonly Piece[]): string {
  const texts = pieces.filter((piece) => typeof piece === 'string');
  if (texts.length === pieces.length) return literal(texts.join(''));
  if (texts.every((text) => /^[\w ,.:;/?&=@%+~{}[\]-]*$/u.test(text))) {
    const inside = pieces.map((piece, index) =>
      typeof piece === 'string' ? piece : variableBefore(piece.variable, pieces[index + 1]),
    );
    return `"${inside.join('')}"`;
  }
  return pieces
    .map((piece) => (typeof piece === 'string' ? literal(piece) : `"$${piece.variable}"`))
    .join('');
}

/**
 * The variable that stands for a value that only the reader knows. `$ID` is free to take; any other
 * name might be one that the shell or this page uses already, such as `$PATH` or `$KEY`.
 */
export function variableFor(name: string): { variable: string } {
  const plain = name.replaceAll(/[^A-Za-z0-9]+/gu, '_').toUpperCase();
  return { variable: plain === 'ID' ? plain : `MY_${plain}` };
}

function literal(text: string): string {
  const lines = text.split('\n').map(withoutControls).join('\n');
  return `'${lines.replaceAll("'", String.raw`'\''`)}'`;
}

/** Braces only where the text behind would become part of the name. */
function variableBefore(variable: string, next: Piece | undefined): string {
  return typeof next === 'string' && /^\w/u.test(next) ? `\${${variable}}` : `$${variable}`;
}
