// Removes secrets from text that people and machines will read: log lines, spans, error messages.
// It detects a secret by its form or by the name before it; a URL keeps at most origin and path.
// Works on plain text and on JSON, and keeps JSON valid.
import { hidden, isSecretName, isSuspect, withoutSecrets } from './secret-text.ts';

/**
 * Shows a URL in an error message to the caller who sent it: it may be any text, and is never shown
 * in full.
 */
export function showUrl(raw: string): string {
  const scheme = /^https?:[/\\]*/i.exec(raw)?.[0] ?? '';
  const at = raw.lastIndexOf('@');
  const tail = raw.search(/[?#]/);
  // An @ after a ? may end a password or be part of a query: nothing around it is safe to show.
  if (tail >= 0 && at > tail) return `${scheme}***`;
  const bare = at < 0 ? raw : `${scheme}***@${raw.slice(at + 1)}`;
  const shown = bare.replace(/([?#]).*$/s, '$1***').replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '\u{fffd}');
  if (shown.length <= shownCharsMax) return shown;
  return `${shown.slice(0, shownCharsMax).toWellFormed()}…`;
}

const shownCharsMax = 120;

/** Keeps origin and path: receivers put tokens into the rest. */
export function plainUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null) return hidden;
  return url.origin === 'null' ? `${url.protocol}${hidden}` : url.origin + url.pathname;
}

/**
 * Keeps only the origin: many receivers have a token in the path, and logs have more readers than
 * the API.
 */
export function originOf(text: string): string {
  const url = URL.parse(text);
  return url === null || url.origin === 'null' ? hidden : url.origin;
}

/** Removes the path of each http URL in a text or in a line of JSON, which stays valid JSON. */
export function withoutPaths(text: string): string {
  return text.replace(webUrl, (_url, origin: string, rest: string) =>
    rest === '' || rest === '/' ? origin + rest : `${origin}/${hidden}`,
  );
}

/**
 * In JSON a backslash escapes the next character: two are a backslash in the path, any other escape
 * ends it.
 */
const webUrl = /(https?:\/\/[^\s"<>`/?#\\]*)((?:\\\\|[^\s"<>`\\])*)/giu;

/**
 * Parses and reprints JSON, since only parsing finds the exact end of a value. It does so only for
 * the few lines that contain something suspicious.
 */
export function redact(text: string): string {
  if (!isSuspect(text)) return text;
  if (!text.endsWith('\n')) return redactString(text, 0);
  return `${redactString(text.slice(0, -1), 0)}\n`;
}

/** Nesting of objects, and of JSON inside JSON strings; deeper values are hidden. */
const depthMax = 64;

function redactString(text: string, depth: number): string {
  const json = parse(text);
  return json === undefined ? withoutSecrets(text) : JSON.stringify(redactValue(json, depth));
}

/** Numbers stay text: one with many digits is a token, and parsing would change it. */
function parse(text: string): unknown {
  if (!/^\s*[[{"]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function redactValue(value: unknown, depth: number): unknown {
  if (depth > depthMax) return hidden;
  if (typeof value === 'string') return redactString(value, depth + 1);
  if (Array.isArray(value)) return redactList(value, depth + 1);
  if (typeof value === 'object' && value !== null) return redactObject(value, depth + 1);
  return value;
}

/** Headers come as pairs, or as one list of alternating names and values. */
function redactList(values: readonly unknown[], depth: number): unknown[] {
  return values.map((value, index) => {
    const before = values[index - 1];
    const isValue = typeof before === 'string' && isSecretName(before);
    return isValue ? mask(value) : redactValue(value, depth);
  });
}

function redactObject(object: object, depth: number): object {
  const entries: readonly (readonly [string, unknown])[] = Object.entries(object);
  const isPair = entries.some(
    ([name, value]) =>
      /^(?:name|key|header)$/i.test(name) && typeof value === 'string' && isSecretName(value),
  );
  const safe = entries.map(([name, value]) => {
    const isSecret = isSecretName(name) || (isPair && /^values?$/i.test(name));
    return [withoutSecrets(name), isSecret ? mask(value) : redactValue(value, depth)] as const;
  });
  return Object.fromEntries(safe);
}

/** Null and booleans only say whether there is a secret, so they are shown. */
function mask(value: unknown): unknown {
  return value === null || typeof value === 'boolean' ? value : hidden;
}
