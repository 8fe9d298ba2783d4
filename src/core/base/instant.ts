// Times that callers write. Every accepted time can be printed as RFC 3339 again, which has four
// digits for the year: an offset could otherwise move a time out of that range.

const firstMs = Date.parse('0000-01-01T00:00:00Z');
const lastMs = Date.parse('9999-12-31T23:59:59.999Z');

/** The expectation in the message for any other time. */
export const instantExpected = 'a UTC timestamp of the years 0 to 9999, without a leap second';

/** Parses RFC 3339; undefined for a time that no clock shows, such as a leap second. */
export function instantMs(written: string): number | undefined {
  const ms = Date.parse(written);
  return ms >= firstMs && ms <= lastMs ? ms : undefined;
}
