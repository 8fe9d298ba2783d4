// Prints a request as a curl command for a POSIX shell, quoted so that any text stays literal.
// Pure.
export type CurlRequest = {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string | undefined;
};

export function curl({ method, url, headers, body }: CurlRequest): string {
  const lines = [
    // Without --globoff, curl would expand brackets and braces in the URL.
    `curl --globoff -X ${quote(method)} ${quote(url)}`,
    ...headers.map(
      ([name, value]) => `-H ${quote(value === '' ? `${name};` : `${name}: ${value}`)}`,
    ),
    // With --data-raw, a leading @ is not a file name.
    ...(body === undefined ? [] : [`--data-raw ${quote(body)}`]),
  ];
  return lines.join(' \\\n  ');
}

/**
 * Single quotes keep everything literal except the quote itself. Characters that a terminal may
 * interpret when pasted, or that are invisible, are written as bytes, which requires $'…' quotes.
 */
export function quote(text: string): string {
  if (!unsafe.test(text)) return `'${text.replaceAll("'", String.raw`'\''`)}'`;
  const escaped = text
    .replaceAll('\\', String.raw`\\`)
    .replaceAll("'", String.raw`\'`)
    .replaceAll('\n', String.raw`\n`)
    .replaceAll(everyUnsafe, asBytes);
  return `$'${escaped}'`;
}

// Control characters except line feed, and invisible or bidi characters.
const unsafe = /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]--[\n]]/v;
const everyUnsafe = new RegExp(unsafe.source, 'gv');

/** Octal escapes: all shells with these quotes read them alike, whatever follows. */
function asBytes(char: string): string {
  return [...new TextEncoder().encode(char)]
    .map((byte) => `\\${byte.toString(8).padStart(3, '0')}`)
    .join('');
}
