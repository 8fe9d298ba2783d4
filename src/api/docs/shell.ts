// Quotes words of a shell command, so that text from a document cannot turn a pasted command into
// another one.
import { withoutControls } from './value.ts';

/** Literal text, or a variable of the shell. */
export type ShellPart = string | { variable: string };

/** `'plain text'`, `"Key: $KEY"`, or both concatenated if one alone would not be safe. */
export function quote(...pieces: readonly ShellPart[]): string {
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
 * The variable for a value that only the reader knows. `$ID` is safe to use; other names get a
 * prefix, because the shell or this page may already use them, such as `$PATH` or `$KEY`.
 */
export function variableFor(name: string): { variable: string } {
  const plain = name.replaceAll(/[^A-Za-z0-9]+/gu, '_').toUpperCase();
  return { variable: plain === 'ID' ? plain : `MY_${plain}` };
}

function literal(text: string): string {
  const lines = text.split('\n').map(withoutControls).join('\n');
  return `'${lines.replaceAll("'", String.raw`'\''`)}'`;
}

/** Adds braces only if the following text would become part of the name. */
function variableBefore(variable: string, next: ShellPart | undefined): string {
  return typeof next === 'string' && /^\w/u.test(next) ? `\${${variable}}` : `$${variable}`;
}
