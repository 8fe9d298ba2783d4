// Payloads of numbered events, with bytes that parsing and printing would change.

/** Order, big numbers, escapes, a duplicate key. */
export function payloadOf(number: number): string {
  const big = `9007199254740993${number}`;
  return `{ "z":${big},"message":"n\\u00famber ${number} ✓ \\ud83d\\ude00","a":1.0, "a":1e2,"\\u0061b":[ ]}`;
}

/** The number in a payload, if it is exactly such a payload. */
export function numberIn(payload: Buffer): number | undefined {
  const number = Number(/mber (\d+) /.exec(payload.toString('latin1'))?.[1]);
  const isOurs = Number.isInteger(number) && payload.equals(Buffer.from(payloadOf(number)));
  return isOurs ? number : undefined;
}
