// Cuts a byte stream into HTTP messages with Content-Length. Does the minimum, because receivers
// and load use cores that the measured program needs.

const headEnd = Buffer.from('\r\n\r\n');
const lengthField = /\r\ncontent-length: *(\d+)/i;

export interface Piece {
  /** First line and headers. */
  head: string;
  body: Buffer;
}

/** Calls `onMessage` when the last byte of a message has arrived. */
export function createCutter(onMessage: (piece: Piece) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (;;) {
      const at = rest.indexOf(headEnd);
      if (at < 0) return;
      const head = rest.toString('latin1', 0, at);
      const from = at + headEnd.length;
      const to = from + Number(lengthField.exec(head)?.[1] ?? 0);
      if (rest.length < to) return;
      onMessage({ head, body: rest.subarray(from, to) });
      rest = rest.subarray(to);
      if (rest.length === 0) return;
    }
  };
}
