// Text functions for the sections of docs/proof.md.
import { withoutFolders, type Checkout } from './place.ts';

/** Escapes a text for a Markdown table. */
export function plain(text: string): string {
  return withoutFolders(text)
    .replaceAll('|', '\\|')
    .replaceAll('<', '&lt;')
    .replaceAll(/\s+/g, ' ');
}

export function sayCommit({
  commit,
  isChanged,
}: Pick<Checkout, 'commit'> & Partial<Checkout>): string {
  return `\`${commit}\`${isChanged === true ? ', with changes that are not committed' : ''}`;
}
