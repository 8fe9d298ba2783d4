// Builds the URL of a call: the service's base URL, the path of an operation with its values, and the query. Pure.

/** The base URL of the service, without a trailing slash. */
export function readUrl(url: string): string {
  const expected = 'expected one such as https://ringback.example';
  if (typeof url !== 'string') {
    throw new TypeError(`Cannot use the url: it is of type ${typeof url}, ${expected}`);
  }
  // Quoted text never contains a password or a key, not even part of a URL that cannot be parsed.
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined) {
    const which = /[@?#]/.test(url) ? 'the url' : `"${url}" as url`;
    throw new TypeError(`Cannot use ${which}: ${expected}`);
  }
  const refuse = (why: string): never => {
    throw new TypeError(`Cannot use the url at "${parsed.host}": ${why}`);
  };
  const scheme = parsed.protocol.slice(0, -1);
  if (scheme !== 'http' && scheme !== 'https') {
    return refuse(`scheme is "${scheme}", expected http or https`);
  }
  if (parsed.username !== '' || parsed.password !== '') {
    return refuse(
      'it contains a user name or a password, expected none: pass the key as the option of ' +
        'that name',
    );
  }
  if (parsed.search !== '' || parsed.hash !== '' || /[?#]/.test(url)) {
    return refuse('it contains a query or a fragment, expected none');
  }
  return parsed.origin + parsed.pathname.replace(/\/+$/, '');
}

/** `/events/{id}` with its values, each escaped, so that a value cannot change the path. */
export function fillPath(path: string, values: Readonly<Record<string, string>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    // URL parsing removes `.` and `..` segments even when they are escaped.
    if (typeof value !== 'string' || /^\.{0,2}$/.test(value)) {
      throw new TypeError(`Cannot use "${String(value)}" as ${name}: expected a non-empty string`);
    }
    return escape(value);
  });
}

/** Starts with `?`, or is empty. Undefined values are omitted; a list is repeated or joined. */
export function writeQuery(query: object, joined: readonly string[]): string {
  const pairs = Object.entries(query).flatMap(([name, value]: [string, unknown]) => {
    if (value === undefined) return [];
    if (!Array.isArray(value)) return [`${escape(name)}=${escape(textOf(name, value))}`];
    const values = value.map((one: unknown) => escape(textOf(name, one)));
    return joined.includes(name)
      ? [`${escape(name)}=${values.join(',')}`]
      : values.map((one) => `${escape(name)}=${one}`);
  });
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

function textOf(name: string, value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
    return String(value);
  }
  throw new TypeError(
    `Cannot use a value of type ${typeof value} as ${name}: expected a string, a number or a boolean`,
  );
}

/** A lone surrogate cannot be sent, and the error of `encodeURIComponent` would not name the parameter. */
function escape(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
