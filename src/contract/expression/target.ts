// Builds callback URLs from a template and an exchange. Scheme, userinfo, host and port come from
// the value at position 0 or from the contract's own text, never from a mixture.
import assert from 'node:assert/strict';
import { limits } from '../../core/limits/limits.ts';
import { showUrl } from '../../core/secrets/redact.ts';
import { evaluate, type ExpressionInput } from './evaluate.ts';
import { printExpression, type Expression } from './expression.ts';
import type { Part, Template } from './template.ts';

/** `url` may contain the placeholder `{eventType}`, and no other braces. */
export type Target = { kind: 'url'; url: string } | Unresolved | Refused;

interface Unresolved {
  kind: 'unresolved';
  reason: string;
}

interface Refused {
  kind: 'refused';
  reason: string;
}

const placeholder = '{eventType}';

/**
 * One target; for a template that is a single expression with a list value, one target per element.
 */
export function buildTargets(template: Template, exchange: ExpressionInput): readonly Target[] {
  const fault = templateFault(template);
  if (fault !== undefined) return [{ kind: 'refused', reason: fault }];
  const [first, ...rest] = template;
  if (first?.kind === 'expression' && rest.length === 0) {
    return buildWhole(first.expression, exchange);
  }
  const pieces: UrlPart[] = [];
  for (const part of template) {
    const piece = toUrlPart(part, exchange);
    if (piece.kind === 'unresolved') return [piece];
    pieces.push(piece);
  }
  return [assemble(pieces)];
}

/** Inserts the event name of one delivery into a target. */
export function fillEvent(url: string, eventName: string): string {
  // URL parsers read `%2E` as a dot: a path would lead upwards.
  const text = /^\.{1,2}$/u.test(eventName) ? eventName.replaceAll('.', '%2E') : eventName;
  return url.replaceAll(placeholder, () => encodeComponent(text));
}

/** Adds a pair to a query, percent-encoded. */
export function appendQuery(query: string, name: string, value: string): string {
  return joinQueries(query, `${encodeComponent(name)}=${encodeComponent(value)}`);
}

/** The target with more in its query. */
export function withQuery(target: Target, query: string): Target {
  if (target.kind !== 'url' || query === '') return target;
  const mark = target.url.indexOf('?');
  const before = mark < 0 ? '' : target.url.slice(mark + 1);
  const path = mark < 0 ? target.url : target.url.slice(0, mark);
  const url = `${path}?${joinQueries(before, query)}`;
  const bytes = Buffer.byteLength(url);
  if (bytes <= limits.urlBytesMax) return { kind: 'url', url };
  return refused(`Cannot accept callback URL ${quote(showUrl(url))}: ${sizeFault(bytes)}`);
}

/** Why no exchange can ever produce a target from this template; undefined when one can. */
export function templateFault(template: Template): string | undefined {
  const [first, second] = template;
  if (first?.kind === 'expression') return undefined;
  const { authority, rest } = splitStatic(first?.text ?? '');
  if (rest === '' && second?.kind === 'expression') {
    return authorityFault(authority, printExpression(second.expression));
  }
  const base = readBase(authority);
  return base.kind === 'refused' ? base.reason : undefined;
}

/** A piece of the result: the contract's text, a value, or the event name. */
type UrlPart =
  | { kind: 'text'; text: string }
  | { kind: 'value'; text: string; source: string }
  | { kind: 'event'; source: string };

function buildWhole(expression: Expression, exchange: ExpressionInput): readonly Target[] {
  const source = printExpression(expression);
  const evaluated = evaluate(expression, exchange);
  if (evaluated.kind === 'unresolved') return [evaluated];
  if (evaluated.kind === 'event') return [assemble([{ kind: 'event', source }])];
  const texts = evaluated.kind === 'value' ? [evaluated.text] : evaluated.texts;
  const max = limits.callbacksPerSubscriptionMax;
  if (texts.length > max) {
    const counts = `it has ${texts.length} elements, expected at most ${max}`;
    return [refused(`Cannot accept the callback URLs of "${source}": ${counts}`)];
  }
  return texts.map((text) => assemble([{ kind: 'value', text, source }]));
}

function toUrlPart(part: Part, exchange: ExpressionInput): UrlPart | Unresolved {
  if (part.kind === 'text') return part;
  const source = printExpression(part.expression);
  const evaluated = evaluate(part.expression, exchange);
  if (evaluated.kind === 'unresolved') return evaluated;
  if (evaluated.kind === 'event') return { kind: 'event', source };
  if (evaluated.kind === 'value') return { kind: 'value', text: evaluated.text, source };
  const reason = `${source} is a list, expected one value because it is combined with other text`;
  return { kind: 'unresolved', reason };
}

function assemble(pieces: readonly UrlPart[]): Target {
  const [first, ...others] = pieces;
  assert(first !== undefined, 'an empty template has a fault');
  if (first.kind === 'event') {
    const expected = 'expected an expression that yields the whole URL';
    return refused(
      `Cannot use "${first.source}" as callback URL: it is the event name, ${expected}`,
    );
  }
  if (first.kind === 'value') return join(readBase(first.text), others);
  const { authority, rest } = splitStatic(first.text);
  return join(
    readBase(authority),
    rest === '' ? others : [{ kind: 'text', text: rest }, ...others],
  );
}

/** The contract's own text at position 0, split where its authority ends. */
function splitStatic(text: string): { authority: string; rest: string } {
  const authority = /^[^:/?#]+:\/\/[^/?#]*/u.exec(text)?.[0] ?? text;
  return { authority, rest: text.slice(authority.length) };
}

/** An absolute URL split for joining. The fragment is dropped, braces are encoded. */
interface Base {
  kind: 'base';
  /** Scheme and authority: `https://user@host:8443`. */
  authority: string;
  path: string;
  /** Without the question mark; undefined when there is none. */
  query: string | undefined;
}

function readBase(text: string): Base | Refused {
  const fault = urlFault(text);
  if (fault !== undefined)
    return refused(`Cannot accept callback URL ${quote(showUrl(text))}: ${fault}`);
  const shape = /^(?<authority>[^/]*\/\/[^/?#]*)(?<path>[^?#]*)(?:\?(?<query>[^#]*))?/u;
  const { authority = '', path = '', query } = shape.exec(encodeBraces(text))?.groups ?? {};
  return { kind: 'base', authority, path, query };
}

function urlFault(text: string): string | undefined {
  const bytes = Buffer.byteLength(text);
  if (bytes > limits.urlBytesMax) return sizeFault(bytes);
  const scheme = /^([a-z][a-z0-9+.-]*):/iu.exec(text)?.[1];
  if (scheme === undefined) return 'it has no scheme, expected http:// or https:// and a host';
  if (!/^https?$/iu.test(scheme)) return `scheme is "${scheme}", expected http or https`;
  // Spaces, control and invisible characters and backslashes: URL parsers disagree about them.
  const bad = /[\p{Z}\p{Cc}\p{Cf}\p{Cs}\\]/u.exec(text);
  if (bad !== null) {
    return `character ${bad.index + 1} is ${quote(bad[0])}, expected it percent-encoded`;
  }
  if (!/^[a-z]+:\/\/[^/?#]/iu.test(text)) {
    return `there is no host after "${scheme}:", expected "//" and a host`;
  }
  if (URL.parse(text) !== null) return undefined;
  return 'its host or port cannot be parsed, expected a host name or an address';
}

function join(base: Base | Refused, tail: readonly UrlPart[]): Target {
  if (base.kind === 'refused') return base;
  const [next] = tail;
  const open = base.path === '' && base.query === undefined;
  if (open && next !== undefined && !(next.kind === 'text' && /^[/?#]/u.test(next.text))) {
    const source = next.kind === 'text' ? next.text : next.source;
    return refused(authorityFault(base.authority, source));
  }
  const { path, query } = joinTail(base, tail);
  const touched = path.slice(Math.max(0, base.path.lastIndexOf('/')));
  if (tail.some((piece) => piece.kind !== 'text') && hasDotSegment(touched)) {
    const reason = 'it has a segment "." or "..", expected none next to an expression';
    return refused(`Cannot use callback path ${quote(path)}: ${reason}`);
  }
  const url = `${base.authority}${path}${query === undefined ? '' : `?${query}`}`;
  const bytes = Buffer.byteLength(url);
  if (bytes > limits.urlBytesMax) {
    return refused(`Cannot accept callback URL ${quote(showUrl(url))}: ${sizeFault(bytes)}`);
  }
  assert(sameAuthority(url, base.authority), 'joining has changed the authority');
  return { kind: 'url', url };
}

/**
 * A tail that starts with "/" continues the path, even if the base has a query. The first "?" in
 * its text starts the query or continues that of the base; later ones are data. Any other tail
 * continues whatever the base ends with. A fragment is never sent, so it is dropped here too.
 */
function joinTail(base: Base, tail: readonly UrlPart[]): Pick<Base, 'path' | 'query'> {
  const added = { end: '', path: '', query: '' };
  let place: keyof typeof added = 'end';
  for (const piece of tail) {
    if (piece.kind !== 'text') {
      added[place] += piece.kind === 'event' ? placeholder : encodeComponent(piece.text);
      continue;
    }
    const hash = piece.text.indexOf('#');
    const text = encodeText(hash < 0 ? piece.text : piece.text.slice(0, hash));
    if (place === 'end' && text.startsWith('/')) place = 'path';
    const mark = place === 'query' ? -1 : text.indexOf('?');
    added[place] += mark < 0 ? text : text.slice(0, mark);
    if (mark >= 0) {
      place = 'query';
      added.query = text.slice(mark + 1);
    }
    if (hash >= 0) break;
  }
  const start = base.query === undefined ? base.path + added.end : base.path;
  const path = start + (start.endsWith('/') ? added.path.slice(1) : added.path);
  const query = base.query === undefined ? undefined : base.query + added.end;
  return { path, query: place === 'query' ? joinQueries(query ?? '', added.query) : query };
}

function joinQueries(first: string, second: string): string {
  const bare = first === '' || second === '' || first.endsWith('&');
  return `${first}${bare ? '' : '&'}${second}`;
}

/** Encoding a dot would not help: URL parsers read "%2e" as a dot. */
function hasDotSegment(path: string): boolean {
  return /\/(?:\.|%2e){1,2}(?:\/|$)/iu.test(path);
}

/** The last line of defence, with a URL parser independent of the code above. */
function sameAuthority(...urls: readonly string[]): boolean {
  const authorities = urls.map((url) => {
    const { protocol, username, password, host } = new URL(url);
    return JSON.stringify([protocol, username, password, host]);
  });
  return new Set(authorities).size === 1;
}

function authorityFault(authority: string, next: string): string {
  const reason = 'it would change the host, expected "/", "?" or nothing there';
  return `Cannot append ${quote(next)} to ${quote(showUrl(authority))}: ${reason}`;
}

function sizeFault(bytes: number): string {
  return `it has ${bytes} bytes, expected at most ${limits.urlBytesMax}`;
}

/** Encodes all but the unreserved characters of RFC 3986. */
function encodeComponent(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll(/[!'()*]/gu, encodeByte);
}

/** For the contract's own text: encodes only characters that are invalid in a URL. */
function encodeText(text: string): string {
  return text.toWellFormed().replaceAll(/[^!#-;=?-[\]_a-z~]/gu, (char) => encodeURIComponent(char));
}

function encodeBraces(text: string): string {
  return text.replaceAll(/[{}]/gu, encodeByte);
}

function encodeByte(char: string): string {
  return `%${char.charCodeAt(0).toString(16).toUpperCase()}`;
}

/** For messages: escaped, and shortened to a readable length. */
function quote(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}

function refused(reason: string): Refused {
  return { kind: 'refused', reason };
}
