// Words and texts that several sections of docs/proof.md share.
import { withoutFolders, type Checkout } from './place.ts';

/** Nothing that a table or a page would take for its own. */
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
