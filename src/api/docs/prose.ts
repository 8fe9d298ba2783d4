// A small, safe CommonMark subset: paragraphs, lists, fenced code, quotes and headings; inside them code, bold, emphasis,
// links to http(s) and escapes. Headings become bold lines, because the outline of the page is ours. Tables stay as typed.
import { bounds } from './view.ts';
import { type Fragment, type Html, html } from './html.ts';

const blockDepthMax = 4;

/** Undefined for empty text. */
export function prose(text: string | undefined): Fragment {
  if (text === undefined || text.trim() === '') return undefined;
  const cut = text.length > bounds.descriptionCharsMax;
  const kept = cut ? `${text.slice(0, bounds.descriptionCharsMax)} …` : text;
  return html`<div class="prose">${blocks(kept.split(/\r\n|[\r\n]/u), 0)}</div>`;
}

function blocks(lines: readonly string[], depth: number): Fragment {
  const out: Fragment[] = [];
  for (let at = 0; at < lines.length;) {
    const block = isBlank(lines[at])
      ? { content: undefined, end: at + 1 }
      : blockAt(lines, at, depth);
    out.push(block.content);
    at = block.end;
  }
  return out;
}

interface Block {
  content: Fragment;
  /** Index of the first line after the block. */
  end: number;
}

function blockAt(lines: readonly string[], at: number, depth: number): Block {
  const line = lines[at] ?? '';
  const fence = /^ {0,3}(`{3,}|~{3,})/u.exec(line)?.[1];
  if (fence !== undefined) {
    const end = endOf(lines, at + 1, (one) => !one.trim().startsWith(fence));
    return { content: html`<pre><code>${textOf(lines, at + 1, end)}</code></pre>`, end: end + 1 };
  }
  const heading = /^ {0,3}#{1,6} +(.*)$/u.exec(line)?.[1]?.replace(/ #+ *$/u, '');
  if (heading !== undefined) {
    return {
      content: html`<p class="heading"><strong>${inline(heading)}</strong></p>`,
      end: at + 1,
    };
  }
  const table = endOf(lines, at, (one) => /^ *\|/u.test(one));
  if (table > at) return { content: html`<pre>${textOf(lines, at, table)}</pre>`, end: table };
  if (depth < blockDepthMax) {
    const end = endOf(lines, at, (one) => quoteMark.test(one));
    if (end > at) {
      const inside = lines.slice(at, end).map((one) => one.replace(quoteMark, ''));
      return { content: html`<blockquote>${blocks(inside, depth + 1)}</blockquote>`, end };
    }
    if (bullet.test(line)) return list(lines, at, depth + 1);
  }
  const end = endOf(lines, at + 1, (one) => !startsBlock(one));
  const text = lines.slice(at, end).map((one) => one.trim());
  return { content: html`<p>${inline(text.join('\n'))}</p>`, end };
}

const quoteMark = /^ {0,3}> ?/u;
const bullet = /^( *)(?:[-*+]|\d{1,9}[.)]) +(?=\S)/u;

function list(lines: readonly string[], at: number, depth: number): Block {
  const isOrdered = /^ *\d/u.test(lines[at] ?? '');
  const items: Html[] = [];
  let end = at;
  while (end < lines.length) {
    const start = bullet.exec(lines[end] ?? '');
    if (start === null || /\d/u.test(start[0]) !== isOrdered) break;
    const indent = start[0].length;
    const next = itemEnd(lines, end, start[1]?.length ?? 0);
    const inside = lines.slice(end + 1, next).map((line) => dedent(line, indent));
    items.push(html`<li>${item([lines[end]?.slice(indent) ?? '', ...inside], depth)}</li>`);
    end = next;
  }
  return {
    content: isOrdered
      ? html`<ol>
          ${items}
        </ol>`
      : html`<ul>
          ${items}
        </ul>`,
    end,
  };
}

/** An item includes indented lines and wrapped lines. */
function itemEnd(lines: readonly string[], at: number, outer: number): number {
  let end = at + 1;
  for (; end < lines.length; end += 1) {
    const line = lines[end] ?? '';
    const start = bullet.exec(line);
    if (start !== null && (start[1]?.length ?? 0) <= outer + 1) break;
    if (isBlank(line) && !/^ {2,}\S/u.test(lines[end + 1] ?? '')) break;
    if (start === null && isBlank(lines[end - 1]) && !line.startsWith('  ')) break;
  }
  // One blank line between two items does not end the list.
  return isBlank(lines[end]) && bullet.test(lines[end + 1] ?? '') ? end + 1 : end;
}

function dedent(line: string, indent: number): string {
  return line.slice(Math.min(indent, line.search(/[^ ]|$/u)));
}

/** A single paragraph needs no tags of its own. */
function item(lines: readonly string[], depth: number): Fragment {
  const end = endOf(lines, 0, (line) => !startsBlock(line));
  return [inline(textOf(lines, 0, end)), blocks(lines.slice(end), depth)];
}

function startsBlock(line: string): boolean {
  return isBlank(line) || /^ {0,3}(?:`{3}|~{3}|#{1,6} |>|\|)/u.test(line) || bullet.test(line);
}

function endOf(lines: readonly string[], at: number, holds: (line: string) => boolean): number {
  let end = at;
  while (end < lines.length && holds(lines[end] ?? '')) end += 1;
  return end;
}

function textOf(lines: readonly string[], at: number, end: number): string {
  return lines.slice(at, end).join('\n');
}

function isBlank(line: string | undefined): boolean {
  return line !== undefined && line.trim() === '';
}

// Inside a line. Unknown syntax stays text; HTML is always text.

const inlineDepthMax = 3;

/** Spans are bounded: a mark without its counterpart is searched for only that far. */
const spans = new RegExp(
  [
    String.raw`\\(?<escaped>[!-/:-@[-\x60{-~])`,
    '(?<!`)(?<tick>`+)(?!`)(?<code>.{1,1000}?)(?<!`)\\k<tick>(?!`)',
    String.raw`(?<!\*)\*\*(?![\s*])(?<strong>.{1,1000}?)(?<! )\*\*`,
    String.raw`(?<!\*)\*(?![\s*])(?<em>[^*]{1,1000})(?<! )\*`,
    // An image becomes its text, alone and as the label of a link.
    String.raw`!?\[(?:!\[(?<alt>[^[\]]{1,500})\]\([^()]{0,2000}\)|(?<label>(?:(?!\]\()[^[]){0,500}))\]` +
      String.raw`\(\s*(?<address>https?://[^\s)]{1,2000})[^)]{0,500}\)`,
    String.raw`<(?<auto>https?://[^\s<>]{1,2000})>`,
  ].join('|'),
  'gisu',
);

export function inline(text: string, depth = 0): Fragment {
  if (depth >= inlineDepthMax) return text;
  const out: Fragment[] = [];
  let plainFrom = 0;
  for (const match of text.matchAll(spans)) {
    out.push(text.slice(plainFrom, match.index), spanView(match, depth + 1));
    plainFrom = match.index + match[0].length;
  }
  return [...out, text.slice(plainFrom)];
}

function spanView({ 0: whole, groups = {} }: RegExpExecArray, depth: number): Fragment {
  const { escaped, code, strong, em, alt, label = alt ?? '', address, auto = '' } = groups;
  if (escaped !== undefined) return escaped;
  if (code !== undefined) return html`<code>${code.trim()}</code>`;
  if (strong !== undefined) return html`<strong>${inline(strong, depth)}</strong>`;
  if (em !== undefined) return html`<em>${inline(em, depth)}</em>`;
  const link =
    address === undefined ? externalLink(auto, auto) : externalLink(inline(label, depth), address);
  return link ?? whole;
}

/** An external link; undefined if the address is invalid or not http(s). */
export function externalLink(label: Fragment, address: string): Fragment {
  if (!/^https?:\/\//iu.test(address)) return undefined;
  const url = URL.parse(address);
  return url === null ? undefined : html`<a href="${url.href}" rel="noreferrer">${label}</a>`;
}
