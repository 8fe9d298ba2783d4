// The length of event names and patterns, as the service accepts it. Pure.
const charsMax = 256;

/** Why the service would refuse the name or pattern; undefined if it would not. */
export function eventError(text: string | undefined): string | undefined {
  if (text === undefined || Array.from(text).length <= charsMax) return undefined;
  return `Expected at most ${charsMax} characters.`;
}
