// Knows secrets by their looks and by the name before them, in text of any kind. In doubt it takes out too
// much; it must never look at one character more often than a few times, since others write the text.

export const hidden = '***';

/** Whether what stands under this name, in an object or a header, is a secret. */
export function isSecretName(name: string): boolean {
  return wholeName.test(name);
}

/** Whether there is anything to look at: nearly all lines have nothing. */
export function isSuspect(text: string): boolean {
  if (someName.test(text) || someLook.test(text)) return true;
  if (text.includes('://') && /[?#@]/.test(text)) return true;
  return withoutTokens(text) !== text;
}

/** Text, with parts of it hidden. Meant for one string: in JSON it knows nothing of what is around it. */
export function withoutSecrets(text: string): string {
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

/** The end of a name: whatever stands before it, as in PGPASSWORD and accessToken, changes nothing. */
const name = String.raw`(?:${names})(?:[-_]?(?:value|hash)|s?\d{0,2})`;

/** Between a name and its value: `=`, `":`, `\": `, ` => `, `]=`, `>`. */
const joint = String.raw`\\{0,15}["'\`\]]?\s{0,4}(?:[:=]>?|>)\s{0,4}`;

/** Between the two of a pair: `","`, but not the comma of a sentence. */
const comma = String.raw`\\{0,15}["'\`]\s{0,4},\s{0,4}(?=\\{0,15}["'\`])`;

// A quoted value ends where a quote of its own depth of escapes stands, a list at its end. Without an end
// all of the rest is taken: looking for it again from the next name would make a square of it.
const quoted =
  String.raw`(?<escapes>\\{0,15})(?<quote>["'\`])[^]*?` +
  String.raw`(?:(?<!\\)\k<escapes>\k<quote>|$)`;
const literal = String.raw`(?:-?[\d.]+|null|true|false)(?=[,}\]])`;
const bare = String.raw`\[[^\]]*|\{[^}]*|${literal}|[^\s]+`;

/** Prose goes on after a colon, too: no secret is a little word. */
const word = String.raw`(?![a-z]{1,3} )`;

const wholeName = new RegExp(`${name}$`, 'i');

/** Two patterns: in one they take 2.4 µs instead of 1.3, since then hardly any letter is a wrong beginning. */
const someName = new RegExp(`${names}|bearer|basic\\s`, 'i');
const someLook = /eyJ|-----BEGIN |whsec_|whsk_|rbk_\w{9}|=(?:["\s\\]|$)/;

const rules: readonly (readonly [RegExp, string])[] = [
  [
    /-----BEGIN ([^-]{0,64})-----[^]*?(?:-----END [^-]{0,64}-----|$)/g,
    `-----BEGIN $1-----${hidden}`,
  ],
  [/(?<![\w-])eyJ[\w-]+\.[\w-]+(?:\.[\w-]*)*/g, hidden],
  // The first eight characters name a key, the rest is the key.
  [/rbk_([0-9A-Za-z]{8})[0-9A-Za-z]+/g, `rbk_$1${hidden}`],
  [/(whsec_|whsk_)[\w+/=-]+/g, `$1${hidden}`],
  // To the end of the line: there are schemes of many parts, and cookies with names of their own.
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
  // What ends like base64, and is as long as a key of 32 bytes.
  [/(?<![\w+/-])[\w+/-]{40,}={1,2}(?!\w)/g, hidden],
];

/** Whatever follows a scheme, to its end; some of them without a gap are taken as one. */
const url = /:\/\/[^\s"<>`]+/g;

/** Of each URL origin and path: receivers put tokens into the rest, and databases have passwords. */
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

/** A password may hold a slash, though it should not: what is no host before it is part of one. */
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
 * What is this long and has no words is a token; hashes are too, and nobody needs them here. By hand, since
 * it is in hardly any line: only every 43rd character must be looked at. As a pattern: 18 times as long.
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

/** Names of files are long, too. */
function isPathChar(char: string): boolean {
  return char === '/' || char === '.';
}

/** A letter, a digit, `_` or `-`. */
function isTokenChar(code: number): boolean {
  const isLetter = (code | 32) >= 97 && (code | 32) <= 122;
  return isLetter || (code >= 48 && code <= 57) || code === 95 || code === 45;
}
