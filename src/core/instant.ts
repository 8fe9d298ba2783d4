// Times that callers write. Whatever is read here can be written again as RFC 3339, which has four digits
// for the year: an offset could else lead out of them.

const firstMs = Date.parse('0000-01-01T00:00:00Z');
const lastMs = Date.parse('9999-12-31T23:59:59.999Z');

/** What a caller hears who wrote another one. */
export const instantExpected = 'a UTC timestamp of the years 0 to 9999, without a leap second';

/** Of a time as RFC 3339 writes it; undefined for one that no clock shows, such as a leap second. */
export function instantMs(written: string): number | undefined {
  const ms = Date.parse(written);
  return ms >= firstMs && ms <= lastMs ? ms : undefined;
}
