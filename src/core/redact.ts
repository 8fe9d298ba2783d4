// Takes secrets out of text that people and machines will read: log lines, spans, messages of errors. What
// is known to be a secret by its looks or by the name before it goes; a URL keeps origin and path only.
// Works on plain text and on JSON, and JSON stays JSON.

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

/** 3 µs for the line of a request. */
export function redact(text: string): string {
  let rest = text;
  for (const [pattern, replacement] of rules) rest = rest.replace(pattern, replacement);
  return withoutTokens(rest);
}

const hidden = '***';

/** Where a value ends, also inside a string of JSON. */
const end = String.raw`\s"'\\<>\`{}`;

const names = [
  'authorization',
  'x-api-key',
  'api[-_]?key',
  'passw(?:or)?d',
  'secret',
  'token',
  'ticket',
  'access_token',
  'signature',
].join('|');

// In this order: a URL first, since its parts look like the rest. Each begins with letters that are looked
// for quickly, and is bounded by how long a URL may be: else a line full of beginnings would be read to its
// end from each of them.
const rules: readonly (readonly [RegExp, string])[] = [
  // scheme://user:password@host
  [new RegExp(String.raw`:\/\/[^${end}/?#]{0,2048}@`, 'g'), `://${hidden}@`],
  // Whatever follows a path: ?query and #fragment.
  [new RegExp(String.raw`(:\/\/[^${end}?#]{0,2048})[?#][^${end}]+`, 'g'), `$1?${hidden}`],
  // The first eight characters name a key, the rest is the key.
  [/rbk_([0-9A-Za-z]{8})[0-9A-Za-z]+/g, `rbk_$1${hidden}`],
  [/(whsec_|whsk_)[\w+/=-]+/g, `$1${hidden}`],
  [new RegExp(String.raw`\b(bearer|basic)\s+[^${end},;]+`, 'gi'), `$1 ${hidden}`],
  // All of a line of cookies: some of them have names of their own.
  [/\b(cookie)(\\{0,7}["']?\s{0,4}[:=]\s{0,4}\\{0,7}["']?)[^"'\\\r\n]+/gi, `$1$2${hidden}`],
  // name=value, name: value, "name":"value", \"name\":\"value\"
  [
    new RegExp(
      String.raw`\b(${names})(\\{0,7}["']?\s{0,4}[:=]\s{0,4}\\{0,7}["']?)` +
        String.raw`(?!(?:bearer|basic)\b)[^${end},;&)\]]+`,
      'gi',
    ),
    `$1$2${hidden}`,
  ],
];

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
