// Numbered payloads of constant length: load and receivers can identify the same event without help
// from the program in between.

const digits = 8;
const mark = '"n":"';
const blank = '0'.repeat(digits);
const place = mark + blank;

/** About 500 bytes, like many callbacks. */
export function samplePayload(): { message: string; n: string } {
  return { message: 'x'.repeat(460), n: blank };
}

/** The same length, without a number. */
export function plainPayload(): { message: string } {
  return { message: 'x'.repeat(474) };
}

/** The number of payloads in a body. */
export function payloadsIn(body: string): number {
  return body.split(place).length - 1;
}

/**
 * Writes numbers into copies of a body: the n-th body of k payloads gets those from n × k on. A
 * body without placeholders stays unchanged.
 */
export function numberer(body: string): (n: number) => string {
  const [first = '', ...rest] = body.split(place);
  return (n) => {
    let text = first;
    for (const [i, part] of rest.entries()) {
      text += mark + String(n * rest.length + i).padStart(digits, '0') + part;
    }
    return text;
  };
}

/** Undefined if there is none. */
export function numberIn(body: Buffer): number | undefined {
  const at = body.indexOf(mark);
  if (at < 0) return undefined;
  const from = at + mark.length;
  return Number(body.toString('latin1', from, from + digits));
}
