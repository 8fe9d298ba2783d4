// Payloads that say which one they are, at a length that does not change: load and receivers can name the
// same event without anything between them having to help.

const digits = 8;
const mark = '"n":"';
const blank = '0'.repeat(digits);
const place = mark + blank;

/** About 500 bytes, as many callbacks are. */
export function samplePayload(): { message: string; n: string } {
  return { message: 'x'.repeat(460), n: blank };
}

/** As long, and nobody counts it. */
export function plainPayload(): { message: string } {
  return { message: 'x'.repeat(474) };
}

/** How many payloads there are in a body. */
export function payloadsIn(body: string): number {
  return body.split(place).length - 1;
}

/**
 * Writes numbers into a copy of a body: the n-th of such bodies of k payloads has those from n × k on. One
 * without a place for them stays as it is.
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

/** Undefined: it has none. */
export function numberIn(body: Buffer): number | undefined {
  const at = body.indexOf(mark);
  if (at < 0) return undefined;
  const from = at + mark.length;
  return Number(body.toString('latin1', from, from + digits));
}
