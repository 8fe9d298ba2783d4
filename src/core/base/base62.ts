// Base 62 with a fixed width: letters and digits only, so that a double click selects the whole
// key.

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** That many digits, and half a byte more, still fit into a safe integer. */
const digitsOfNumberMax = 8;

/** Reads the bytes as one number and prints it in `width` digits; higher digits are dropped. */
export function base62(bytes: Uint8Array, width: number): string {
  return width <= digitsOfNumberMax ? inNumbers(bytes, width) : inBigInts(bytes, width);
}

/** For ids and checksums, which every request needs: ten times as fast as BigInt. */
function inNumbers(bytes: Uint8Array, width: number): string {
  const end = 62 ** width;
  let rest = 0;
  for (const byte of bytes) {
    rest = (rest * 16 + (byte >> 4)) % end;
    rest = (rest * 16 + (byte & 15)) % end;
  }
  let text = '';
  for (let i = 0; i < width; i += 1) {
    const digit = rest % 62;
    text = alphabet.charAt(digit) + text;
    rest = (rest - digit) / 62;
  }
  return text;
}

function inBigInts(bytes: Uint8Array, width: number): string {
  let rest = 0n;
  for (const byte of bytes) rest = (rest << 8n) | BigInt(byte);
  let text = '';
  for (let i = 0; i < width; i += 1) {
    text = alphabet.charAt(Number(rest % 62n)) + text;
    rest /= 62n;
  }
  return text;
}
