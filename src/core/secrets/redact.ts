// Removes secrets from text that people and machines will read: log lines, spans, error messages.
// It detects a secret by its form or by the name before it; a URL keeps at most origin and path.
// Works on plain text and on JSON, and keeps JSON valid.

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

// Finds secrets in any text, by their form or by the name before them. When in doubt it hides too
// much. It must take linear time, since the text comes from outside.

const hidden = '***';

/** Whether a value under this name, in an object or a header, is a secret. */
function isSecretName(name: string): boolean {
  return wholeName.test(name);
}

/** Quick check whether the text needs a closer look; nearly all lines do not. */
function isSuspect(text: string): boolean {
  if (someName.test(text) || someLook.test(text)) return true;
  if (text.includes('://') && /[?#@]/.test(text)) return true;
  return withoutTokens(text) !== text;
}

/**
 * Hides the secrets in a text. Meant for a single string: in JSON it does not see the surrounding
 * structure.
 */
function withoutSecrets(text: string): string {
  let rest = text.replace(url, safeUrl);
  for (const [pattern, replacement] of rules) rest = rest.replace(pattern, replacement);
  return withoutTokens(rest);
}

const names = [
  'authorization',
  'cookie',
  '(?:api|access|secret|private|encryption|signing|master|shared|session)[-_ ]?key',
  'passw(?:or)?d',
  'passphrase',
  'pwd',
  'secret',
  'token',
  'ticket',
  'jwt',
  'signature',
  'credential',
  'session[-_]?id',
  'otlp[a-z_]{0,16}headers',
].join('|');

/** Matches the end of a name, so prefixes as in PGPASSWORD and accessToken do not matter. */
const name = String.raw`(?:${names})(?:[-_]?(?:value|hash)|s?\d{0,2})`;

/** Between a name and its value: `=`, `":`, `\": `, ` => `, `]=`, `>`. */
const joint = String.raw`\\{0,15}["'\`\]]?\s{0,4}(?:[:=]>?|>)\s{0,4}`;

/** Between the two strings of a pair: `","`, but not the comma of a sentence. */
const comma = String.raw`\\{0,15}["'\`]\s{0,4},\s{0,4}(?=\\{0,15}["'\`])`;

// A quoted value ends at a quote with the same number of escapes; a list ends at its bracket.
// Without an end, everything that follows is taken: searching again from the next name would be
// quadratic.
const quoted =
  String.raw`(?<escapes>\\{0,15})(?<quote>["'\`])[^]*?` +
  String.raw`(?:(?<!\\)\k<escapes>\k<quote>|$)`;
const literal = String.raw`(?:-?[\d.]+|null|true|false)(?=[,}\]])`;
const bare = String.raw`\[[^\]]*|\{[^}]*|${literal}|[^\s]+`;

/** A colon may also be followed by prose, and a secret is never a short word. */
const word = String.raw`(?![a-z]{1,3} )`;

const wholeName = new RegExp(`${name}$`, 'i');

/** Two patterns are faster than one: with both in one, most letters are a possible start. */
const someName = new RegExp(`${names}|bearer|basic\\s`, 'i');
const someLook = /eyJ|-----BEGIN |whsec_|whsk_|rbk_\w{9}|=(?:["\s\\]|$)/;

const rules: readonly (readonly [RegExp, string])[] = [
  [
    /-----BEGIN ([^-]{0,64})-----[^]*?(?:-----END [^-]{0,64}-----|$)/g,
    `-----BEGIN $1-----${hidden}`,
  ],
  [/(?<![\w-])eyJ[\w-]+\.[\w-]+(?:\.[\w-]*)*/g, hidden],
  // The first eight characters are the key's id, the rest is secret.
  [/rbk_([0-9A-Za-z]{8})[0-9A-Za-z]+/g, `rbk_$1${hidden}`],
  [/(whsec_|whsk_)[\w+/=-]+/g, `$1${hidden}`],
  // To the end of the line: some schemes have many parts, and cookies have names of their own.
  [
    new RegExp(
      String.raw`((?:authorization|cookie)\d?${joint})(?!\\*["'\`[{])${word}[^\r\n]+`,
      'gi',
    ),
    `$1${hidden}`,
  ],
  [new RegExp(`(${name}(?:${joint}|${comma}))${quoted}`, 'gi'), `$1$2$3${hidden}$2$3`],
  [new RegExp(`(${name}${joint})${word}(?!>|\\\\{0,15}["'\`])(?:${bare})`, 'gi'), `$1${hidden}`],
  [/\b(bearer|basic)\s+[^\s"'\\<>`{},;]+/gi, `$1 ${hidden}`],
  // Base64 with padding, at least as long as a 32-byte key.
  [/(?<![\w+/-])[\w+/-]{40,}={1,2}(?!\w)/g, hidden],
];

/** Everything after a scheme up to its end; adjacent URLs without a gap match as one. */
const url = /:\/\/[^\s"<>`]+/g;

/**
 * Keeps the origin and path of each URL: receivers put tokens into the rest, and database URLs hold
 * passwords.
 */
function safeUrl(text: string): string {
  let safe = '';
  for (const part of text.split('://').slice(1)) {
    const shown = withoutUser(part);
    const tail = shown.search(/[?#]/);
    if (tail >= 0) return `${safe}://${shown.slice(0, tail)}?${hidden}`;
    safe += `://${shown}`;
  }
  return safe;
}

/**
 * A password may contain a slash, although it should not: text before a slash that is not a valid
 * host belongs to one.
 */
function withoutUser(part: string): string {
  const tail = part.search(/[/?#]/);
  const authority = tail < 0 ? part : part.slice(0, tail);
  const at = authority.lastIndexOf('@');
  if (at >= 0) return `${hidden}@${part.slice(at + 1)}`;
  if (/^(?:\[[^\]]*\]|[^:]*)(?::\d*)?(?:\W.*)?$/.test(authority)) return part;
  const last = part.lastIndexOf('@');
  return last < 0 ? hidden + part.slice(authority.length) : `${hidden}@${part.slice(last + 1)}`;
}

const tokenCharsMin = 43;

/**
 * A run of this length without words is a token. Hashes match too, but logs do not need them.
 * Written by hand because hardly any line has one: only every 43rd character must be examined,
 * which is far faster than a pattern.
 */
function withoutTokens(text: string): string {
  let kept = '';
  let from = 0;
  let at = tokenCharsMin - 1;
  while (at < text.length) {
    if (!isTokenChar(text.charCodeAt(at))) {
      at += tokenCharsMin;
      continue;
    }
    let start = at;
    while (start > from && isTokenChar(text.charCodeAt(start - 1))) start -= 1;
    let after = at + 1;
    while (after < text.length && isTokenChar(text.charCodeAt(after))) after += 1;
    const isInPath = isPathChar(text.charAt(start - 1)) || isPathChar(text.charAt(after));
    if (after - start >= tokenCharsMin && !isInPath) {
      kept += text.slice(from, start) + hidden;
      from = after;
    }
    at = after + tokenCharsMin;
  }
  return kept + text.slice(from);
}

/** File names are long, too. */
function isPathChar(char: string): boolean {
  return char === '/' || char === '.';
}

/** A letter, a digit, `_` or `-`. */
function isTokenChar(code: number): boolean {
  const isLetter = (code | 32) >= 97 && (code | 32) <= 122;
  return isLetter || (code >= 48 && code <= 57) || code === 95 || code === 45;
}
