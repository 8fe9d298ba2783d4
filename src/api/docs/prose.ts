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

interface Block {
  content: Fragment;
  /** Index of the first line after the block. */
  end: number;
}

type Reader = (lines: readonly string[], at: number, depth: number) => Block | undefined;

const readers: readonly Reader[] = [blank, fence, heading, table, quote, list, paragraph];

function blocks(lines: readonly string[], depth: number): Fragment {
  const out: Fragment[] = [];
  for (let at = 0; at < lines.length;) {
    const block = firstBlock(lines, at, depth);
    out.push(block.content);
    at = block.end;
  }
  return out;
}

function firstBlock(lines: readonly string[], at: number, depth: number): Block {
  for (const reader of readers) {
    const block = reader(lines, at, depth);
    if (block !== undefined) return block;
  }
  return { content: undefined, end: at + 1 };
}

function blank(lines: readonly string[], at: number): Block | undefined {
  return isBlank(lines[at]) ? { content: undefined, end: at + 1 } : undefined;
}

function fence(lines: readonly string[], at: number): Block | undefined {
  const mark = /^ {0,3}(`{3,}|~{3,})/u.exec(lines[at] ?? '')?.[1];
  if (mark === undefined) return undefined;
  const close = lines.findIndex((line, index) => index > at && line.trim().startsWith(mark));
  const end = close < 0 ? lines.length : close;
  const inside = lines.slice(at + 1, end).join('\n');
  return { content: html`<pre><code>${inside}</code></pre>`, end: end + 1 };
}

function heading(lines: readonly string[], at: number): Block | undefined {
  const text = /^ {0,3}#{1,6} +(.*)$/u.exec(lines[at] ?? '')?.[1];
  if (text === undefined) return undefined;
  const content = inline(text.replace(/ #+ *$/u, ''));
  return { content: html`<p class="heading"><strong>${content}</strong></p>`, end: at + 1 };
}

function table(lines: readonly string[], at: number): Block | undefined {
  const end = endOf(lines, at, (line) => /^ *\|/u.test(line));
  if (end === at) return undefined;
  return { content: html`<pre>${lines.slice(at, end).join('\n')}</pre>`, end };
}

function quote(lines: readonly string[], at: number, depth: number): Block | undefined {
  const end = endOf(lines, at, (line) => /^ {0,3}>/u.test(line));
  if (end === at || depth >= blockDepthMax) return undefined;
  const inside = lines.slice(at, end).map((line) => line.replace(/^ {0,3}> ?/u, ''));
  return { content: html`<blockquote>${blocks(inside, depth + 1)}</blockquote>`, end };
}

const bullet = /^( *)([-*+]|\d{1,9}[.)]) +(?=\S)/u;

function list(lines: readonly string[], at: number, depth: number): Block | undefined {
  if (depth >= blockDepthMax) return undefined;
  const isOrdered = /^ *\d/u.test(lines[at] ?? '');
  const items: Html[] = [];
  let end = at;
  while (end < lines.length) {
    const start = bullet.exec(lines[end] ?? '');
    if (start === null || /\d/u.test(start[0]) !== isOrdered) break;
    const indent = start[0].length;
    const next = itemEnd(lines, end, start[1]?.length ?? 0);
    const inside = lines.slice(end, next).map((line, index) => dedent(line, index, indent));
    items.push(html`<li>${item(inside, depth + 1)}</li>`);
    end = next;
  }
  if (items.length === 0) return undefined;
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

function dedent(line: string, index: number, indent: number): string {
  return index === 0 ? line.slice(indent) : line.replace(new RegExp(`^ {0,${indent}}`, 'u'), '');
}

/** A single paragraph needs no tags of its own. */
function item(lines: readonly string[], depth: number): Fragment {
  const end = endOf(lines, 0, (line) => !startsBlock(line));
  const rest = lines.slice(end);
  const text = lines.slice(0, end).join('\n');
  return [inline(text), rest.every(isBlank) ? undefined : blocks(rest, depth)];
}

function paragraph(lines: readonly string[], at: number): Block {
  const end = Math.max(
    at + 1,
    endOf(lines, at, (line) => !startsBlock(line)),
  );
  const text = lines.slice(at, end).map((line) => line.trim());
  return { content: html`<p>${inline(text.join('\n'))}</p>`, end };
}

function startsBlock(line: string): boolean {
  return isBlank(line) || /^ {0,3}(?:`{3}|~{3}|#{1,6} |>|\|)/u.test(line) || bullet.test(line);
}

function endOf(lines: readonly string[], at: number, holds: (line: string) => boolean): number {
  let end = at;
  while (end < lines.length && holds(lines[end] ?? '')) end += 1;
  return end;
}

function isBlank(line: string | undefined): boolean {
  return line !== undefined && line.trim() === '';
}

// Inside a line. Unknown syntax stays text; HTML is always text.

const inlineDepthMax = 3;

export function inline(text: string): Fragment {
  return read(text, 0);
}

/** An external link; undefined if the address is invalid or not http(s). */
export function externalLink(label: Fragment, address: string): Fragment {
  if (!/^https?:\/\//iu.test(address)) return undefined;
  const url = URL.parse(address);
  return url === null ? undefined : html`<a href="${url.href}" rel="noreferrer">${label}</a>`;
}

function read(text: string, depth: number): Fragment {
  if (depth >= inlineDepthMax) return text;
  const scan: Scan = { text, depth, unclosed: new Set() };
  const out: Fragment[] = [];
  let plainFrom = 0;
  for (let at = 0; at < text.length;) {
    const token = tokenAt(scan, at);
    if (token === undefined) {
      at += 1;
      continue;
    }
    out.push(text.slice(plainFrom, at), token.content);
    at = token.end;
    plainFrom = at;
  }
  return [...out, text.slice(plainFrom)];
}

interface Scan {
  text: string;
  depth: number;
  /** Marks without a closing counterpart: searching for them repeatedly would be quadratic. */
  unclosed: Set<string>;
}

interface Token {
  content: Fragment;
  end: number;
}

function tokenAt(scan: Scan, at: number): Token | undefined {
  switch (scan.text.charAt(at)) {
    case '\\':
      return escaped(scan, at);
    case '`':
      return code(scan, at);
    case '*':
      return emphasis(scan, at);
    case '[':
      return link(scan, at);
    case '<':
      return autolink(scan, at);
    default:
      return undefined;
  }
}

function escaped({ text }: Scan, at: number): Token | undefined {
  const next = text.charAt(at + 1);
  return /^[!-/:-@[-`{-~]$/u.test(next) ? { content: next, end: at + 2 } : undefined;
}

function code(scan: Scan, at: number): Token | undefined {
  const mark = runOf('`', scan.text, at);
  const close = closing(scan, mark, at + mark.length);
  if (close === undefined) return { content: mark, end: at + mark.length };
  const content = scan.text.slice(at + mark.length, close).trim();
  return { content: html`<code>${content}</code>`, end: close + mark.length };
}

function emphasis(scan: Scan, at: number): Token | undefined {
  const { text, depth } = scan;
  const run = runOf('*', text, at);
  const mark = run.slice(0, 2);
  const start = at + mark.length;
  if (run.length > 2 || /^\s?$/u.test(text.charAt(start))) return skip(run, at);
  const close = closing(scan, mark, start);
  if (close === undefined || close === start || text.charAt(close - 1) === ' ') {
    return skip(run, at);
  }
  const content = read(text.slice(start, close), depth + 1);
  const end = close + mark.length;
  return mark === '**'
    ? { content: html`<strong>${content}</strong>`, end }
    : { content: html`<em>${content}</em>`, end };
}

function link(scan: Scan, at: number): Token | undefined {
  const middle = closing(scan, '](', at + 1);
  if (middle === undefined) return undefined;
  const close = closing(scan, ')', middle + 2);
  const label = scan.text.slice(at + 1, middle);
  if (close === undefined || label.includes('[')) return undefined;
  const [address = ''] = scan.text
    .slice(middle + 2, close)
    .trim()
    .split(/\s/u, 1);
  const content = externalLink(read(label, scan.depth + 1), address);
  return content === undefined ? undefined : { content, end: close + 1 };
}

function autolink({ text }: Scan, at: number): Token | undefined {
  const address = /^<(https?:\/\/[^\s<>]{1,2000})>/iu.exec(text.slice(at, at + 2010))?.[1];
  const content = address && externalLink(address, address);
  return content ? { content, end: at + (address?.length ?? 0) + 2 } : undefined;
}

function skip(run: string, at: number): Token {
  return { content: run, end: at + run.length };
}

function runOf(char: string, text: string, at: number): string {
  let end = at;
  while (text.charAt(end) === char) end += 1;
  return text.slice(at, end);
}

function closing({ text, unclosed }: Scan, mark: string, from: number): number | undefined {
  if (unclosed.has(mark)) return undefined;
  const close = text.indexOf(mark, from);
  if (close >= 0) return close;
  unclosed.add(mark);
  return undefined;
}
