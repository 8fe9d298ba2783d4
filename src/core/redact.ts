// Takes secrets out of text that people and machines will read: log lines, spans, messages of errors. What
// is known to be a secret by its looks or by the name before it goes; a URL keeps origin and path only.
// Works on plain text and on JSON, and JSON stays JSON.

/** Origin and path: receivers put tokens into the rest. */
export function plainUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null) return hidden;
  return url.origin === 'null' ? `${url.protocol}${hidden}` : url.origin + url.pathname;
}

export function redact(text: string): string {
  return rules.reduce((rest, [pattern, replacement]) => rest.replace(pattern, replacement), text);
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

// In this order: a URL first, since its parts look like the rest.
const rules: readonly (readonly [RegExp, string])[] = [
  // scheme://user:password@host
  [new RegExp(String.raw`(\b[a-z][a-z0-9+.-]{0,20}:\/\/)[^${end}/?#]*@`, 'gi'), `$1${hidden}@`],
  // Whatever follows a path: ?query and #fragment.
  [
    new RegExp(String.raw`(\b[a-z][a-z0-9+.-]{0,20}:\/\/[^${end}?#]*)[?#][^${end}]+`, 'gi'),
    `$1?${hidden}`,
  ],
  // The first eight characters name a key, the rest is the key.
  [/\brbk_([0-9A-Za-z]{8})[0-9A-Za-z]+/g, `rbk_$1${hidden}`],
  [/\b(whsec_|whsk_)[\w+/=-]+/g, `$1${hidden}`],
  [new RegExp(String.raw`\b(bearer|basic)\s+[^${end},;]+`, 'gi'), `$1 ${hidden}`],
  // All of a line of cookies: some of them have names of their own.
  [/\b(cookie)(\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?)[^"'\\\r\n]+/gi, `$1$2${hidden}`],
  // name=value, name: value, "name":"value", \"name\":\"value\"
  [
    new RegExp(
      String.raw`\b(${names})(\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?)(?!(?:bearer|basic)\b)[^${end},;&)\]]+`,
      'gi',
    ),
    `$1$2${hidden}`,
  ],
  // What is this long and has no words is a token. Hashes are too, and nobody needs them here.
  [/(?<![\w/.+-])[\w-]{43,}(?![\w/.-])/g, hidden],
];
