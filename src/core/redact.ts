// Takes secrets out of text that people and machines will read: log lines, spans, messages of errors. What
// is known to be a secret by its looks or by the name before it goes; a URL keeps origin and path at most.
// Works on plain text and on JSON, and JSON stays JSON.
import { hidden, isSecretName, isSuspect, withoutSecrets } from './secret-text.ts';

/** What somebody gave as a URL, in a message to him: it may be anything, and is not shown in full. */
export function showUrl(raw: string): string {
  const scheme = /^https?:[/\\]*/i.exec(raw)?.[0] ?? '';
  const at = raw.lastIndexOf('@');
  const tail = raw.search(/[?#]/);
  // An @ after a ? may end a password or stand in a query: nothing around it is safe to show.
  if (tail >= 0 && at > tail) return `${scheme}***`;
  const bare = at < 0 ? raw : `${scheme}***@${raw.slice(at + 1)}`;
  const shown = bare.replace(/([?#]).*$/s, '$1***').replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '\u{fffd}');
  if (shown.length <= shownCharsMax) return shown;
  return `${shown.slice(0, shownCharsMax).toWellFormed()}…`;
}

const shownCharsMax = 120;

/** Origin and path: receivers put tokens into the rest. */
export function plainUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null) return hidden;
  return url.origin === 'null' ? `${url.protocol}${hidden}` : url.origin + url.pathname;
}

/** Origin alone: many receivers have a token in the path, and logs are read by more people than the API. */
export function originOf(text: string): string {
  const url = URL.parse(text);
  return url === null || url.origin === 'null' ? hidden : url.origin;
}

/** Takes the path out of each http URL in a text, or in a line of JSON, which stays JSON. */
export function withoutPaths(text: string): string {
  return text.replace(webUrl, (_url, origin: string, rest: string) =>
    rest === '' || rest === '/' ? origin + rest : `${origin}/${hidden}`,
  );
}

/** A backslash escapes what follows it in JSON: two of them are one of the path, others end it. */
const webUrl = /(https?:\/\/[^\s"<>`/?#\\]*)((?:\\\\|[^\s"<>`\\])*)/giu;

/**
 * JSON is read and written anew, since only so a value has a certain end; that is done for the few lines
 * with something to look at. 1.3 to 1.8 µs for an ordinary line (2.1 to 2.3 with a pattern for each rule),
 * 28 for one with four secrets.
 */
export function redact(text: string): string {
  if (!isSuspect(text)) return text;
  if (!text.endsWith('\n')) return redactString(text, 0);
  return `${redactString(text.slice(0, -1), 0)}\n`;
}

/** Objects in objects, JSON in strings of JSON: what is deeper is not shown. */
const depthMax = 64;

function redactString(text: string, depth: number): string {
  const json = parse(text);
  return json === undefined ? withoutSecrets(text) : JSON.stringify(redactValue(json, depth));
}

/** A number is left as it is written: many digits are a token, and no number. */
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

/** Headers come as pairs, and as one list of names and values by turns. */
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

/** Whether there is a secret is none. */
function mask(value: unknown): unknown {
  return value === null || typeof value === 'boolean' ? value : hidden;
}
