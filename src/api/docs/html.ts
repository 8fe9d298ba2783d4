// HTML templates: every value in html`…` is escaped, unless html`…` produced it. Documents are
// untrusted; their text must never become a tag or leave its attribute.
import type { Words } from '../../contract/report/words.ts';
import { isList } from '../../contract/document/document.ts';

/** Private to this file: no value from a document can carry it. */
const markup = Symbol('markup');

export interface Html {
  readonly [markup]: string;
}

/** Undefined renders nothing; a list renders its elements in order. */
export type Fragment = Html | string | number | undefined | readonly Fragment[];

/** Values may appear between tags and inside double-quoted attributes, nowhere else. */
export function html(parts: TemplateStringsArray, ...values: readonly Fragment[]): Html {
  const rest = values.map((value, index) => textOf(value) + (parts[index + 1] ?? ''));
  return { [markup]: (parts[0] ?? '') + rest.join('') };
}

/** Serializes the markup. */
export function printHtml(fragment: Fragment): string {
  return textOf(fragment);
}

export function escape(text: string): string {
  return text.replaceAll(/[&<>"'`]/gu, (char) => `&#${char.charCodeAt(0)};`);
}

/** Our own style sheet, which must not be escaped. Never pass text from a document. */
export function styleTag(css: string): Html {
  if (css.includes('</')) throw new TypeError('Cannot embed the style sheet: it holds "</"');
  return { [markup]: `<style>${css}</style>` };
}

export function join(fragments: readonly Fragment[], separator: Fragment): Fragment {
  return fragments.flatMap((one, index) => (index === 0 ? [one] : [separator, one]));
}

/** The first cell of each row is its heading. */
export interface Row {
  id?: string;
  cells: readonly Fragment[];
}

export function table(
  kind: 'pairs' | 'plain',
  heads: readonly string[],
  rows: readonly Row[],
): Html {
  const body = rows.map(({ id, cells: [head, ...others] }) => {
    const anchor = id === undefined ? undefined : html` id="${id}"`;
    const rest = others.map((cell) => html` <td>${cell}</td>`);
    return html`<tr${anchor}><th scope="row">${head}</th>${rest}</tr>`;
  });
  return html`<table class="${kind}">
    <thead>
      <tr>
        ${heads.map((head) => html`<th scope="col">${head}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${body}
    </tbody>
  </table>`;
}

/** Undefined where there is nothing to list. */
export function list(kind: string, items: readonly Fragment[]): Html | undefined {
  if (items.length === 0) return undefined;
  return html`<ul class="${kind}">
    ${items}
  </ul>`;
}

/** Collapsed content. */
export function details(summary: Fragment, content: Fragment): Html {
  return html`<details>
    <summary>${summary}</summary>
    ${content}
  </details>`;
}

/** Names from the document are set in code. */
export function wordsView(words: Words): Fragment {
  return words.map((part) => (typeof part === 'string' ? part : html`<code>${part.name}</code>`));
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
