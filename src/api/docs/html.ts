// Markup that cannot be forged: whatever is put into html`…` is escaped, unless html`…` made it.
// Documents are other people's; no text of theirs may ever become a tag or leave its attribute.
import { isList } from '../../contract/document.ts';

/** Private to this file: nothing that comes out of a document can carry it. */
const markup = Symbol('markup');

export interface Html {
  readonly [markup]: string;
}

/** Undefined is nothing; a list is its elements, one after the other. */
export type Fragment = Html | string | number | undefined | readonly Fragment[];

/** Values may stand between tags and inside attributes in double quotes, nowhere else. */
export function html(parts: TemplateStringsArray, ...values: readonly Fragment[]): Html {
  const rest = values.map((value, index) => textOf(value) + (parts[index + 1] ?? ''));
  return { [markup]: (parts[0] ?? '') + rest.join('') };
}

/** The markup as text, to be sent. */
export function printHtml(fragment: Fragment): string {
  return textOf(fragment);
}

export function escape(text: string): string {
  return text.replaceAll(/[&<>"'`]/gu, (char) => `&#${char.charCodeAt(0)};`);
}

/** A style sheet of our own, which must not be escaped. Never give it anything from a document. */
export function styleTag(css: string): Html {
  if (css.includes('</')) throw new TypeError('Cannot embed the style sheet: it holds "</"');
  return { [markup]: `<style>${css}</style>` };
}

export function join(fragments: readonly Fragment[], separator: Fragment): Fragment {
  return fragments.flatMap((one, index) => (index === 0 ? [one] : [separator, one]));
}

function textOf(value: Fragment): string {
  if (value === undefined) return '';
  if (typeof value === 'string') return escape(value);
  if (typeof value === 'number') return String(value);
  if (isFragments(value)) return value.map(textOf).join('');
  return value[markup];
}

function isFragments(value: Html | readonly Fragment[]): value is readonly Fragment[] {
  return isList(value);
}
