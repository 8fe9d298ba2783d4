// Strict base64, with one encoding for each value: no whitespace, no missing or extra padding, no stray bits, and
// not the URL-safe alphabet.

/** The bytes, or undefined if the text is not canonical base64. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0) return undefined;
  let binary: string;
  try {
    binary = atob(text);
  } catch {
    return undefined; // Padding in the wrong place.
  }
  if (btoa(binary) !== text) return undefined;
  return Uint8Array.from(binary, (char) => char.charCodeAt(0));
}
