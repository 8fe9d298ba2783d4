// Base64 with one spelling for each value: no white space, no missing or superfluous padding, no bits that
// decode to nothing, not the alphabet for URLs.

/** The bytes, or undefined when the text is not how an encoder writes them. */
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
