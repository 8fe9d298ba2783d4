// The inline half of a small, safe CommonMark subset: code, bold, emphasis, links to http(s),
// escapes. Unknown syntax stays text; HTML is always text.
import { html } from './html.ts';
import type { Fragment } from './html.ts';

const depthMax = 3;

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
  if (depth >= depthMax) return text;
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
