// A request as a curl command for a POSIX shell, quoted so that every text means only itself, whatever it
// holds. Pure.
export type CurlRequest = {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string | undefined;
};

export function curl({ method, url, headers, body }: CurlRequest): string {
  const lines = [
    // Without --globoff, curl would read brackets and braces of the URL as patterns.
    `curl --globoff -X ${quote(method)} ${quote(url)}`,
    ...headers.map(
      ([name, value]) => `-H ${quote(value === '' ? `${name};` : `${name}: ${value}`)}`,
    ),
    // Raw: a body that begins with @ is no name of a file.
    ...(body === undefined ? [] : [`--data-raw ${quote(body)}`]),
  ];
  return lines.join(' \\\n  ');
}

/**
 * In single quotes nothing has a meaning but the quote itself. What a terminal may obey when it is pasted,
 * or what cannot be seen, is written as its bytes, which takes the other kind of quotes.
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

// Controls but the line feed, and marks that hide or turn text.
const unsafe = /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]--[\n]]/v;
const everyUnsafe = new RegExp(unsafe.source, 'gv');

/** As octal bytes: every shell that knows these quotes reads them alike, whatever follows. */
function asBytes(char: string): string {
  return [...new TextEncoder().encode(char)]
    .map((byte) => `\\${byte.toString(8).padStart(3, '0')}`)
    .join('');
}
