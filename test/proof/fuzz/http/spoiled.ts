// Mutates valid messages by a few bytes: parsers disagree about messages that are almost valid.
import type { Chance } from '../../sim/chance.ts';

export interface Judged {
  /** By our reader. */
  isAccepted: boolean;
  flaw: string | undefined;
}

const oddBytes = Buffer.from('\r\n\r\n\r\n\t :;,=+-"0159afAF\0\x7f\x80\xffxX', 'latin1');
const spoilsMax = 3;
const sliceMax = 12;

/** Changes, removes, inserts or repeats some bytes. */
export function spoil(chance: Chance, bytes: Buffer): Buffer {
  let spoiled = bytes;
  for (let count = chance.whole(1, spoilsMax); count > 0; count -= 1) {
    const at = chance.whole(0, spoiled.length);
    const [before, after] = [spoiled.subarray(0, at), spoiled.subarray(at)];
    const odd = Buffer.of(chance.pick([...oddBytes]));
    switch (chance.whole(0, 3)) {
      case 0:
        spoiled = Buffer.concat([before, odd, after.subarray(1)]);
        break;
      case 1:
        spoiled = Buffer.concat([before, after.subarray(chance.whole(1, 2))]);
        break;
      case 2:
        spoiled = Buffer.concat([before, odd, after]);
        break;
      default:
        spoiled = Buffer.concat([before, after.subarray(0, chance.whole(1, sliceMax)), after]);
    }
  }
  return spoiled;
}

/** Splits the bytes into pieces, as a network may. */
export function cut(chance: Chance, bytes: Buffer): Buffer[] {
  const pieces: Buffer[] = [];
  let left = bytes;
  while (left.length > 0 && pieces.length < 4 && chance.isLucky(0.4)) {
    const size = chance.whole(1, left.length);
    pieces.push(left.subarray(0, size));
    left = left.subarray(size);
  }
  return left.length > 0 ? [...pieces, left] : pieces;
}

export function show(bytes: Buffer): string {
  return JSON.stringify(bytes.toString('latin1'));
}
