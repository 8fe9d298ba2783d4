// Exact arithmetic on numbers as JSON writes them. In binary fractions 1.15 would be no multiple of 0.01.

/** `digits` × 10^-`scale`. */
export interface Decimal {
  digits: bigint;
  scale: number;
}

export function decimalOf(number: number): Decimal {
  const [mantissa = '', exponent = '0'] = String(number).split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  return { digits: BigInt(whole + fraction), scale: fraction.length - Number(exponent) };
}

/** The number × 10^`scale`, which must be a whole number. */
export function scaled({ digits, scale: own }: Decimal, scale: number): bigint {
  return digits * 10n ** BigInt(scale - own);
}

export function isMultiple(number: number, factor: number): boolean {
  if (Number.isSafeInteger(number) && Number.isSafeInteger(factor)) return number % factor === 0;
  if (!Number.isFinite(number)) return false;
  const [a, b] = [decimalOf(number), decimalOf(factor)];
  const scale = Math.max(a.scale, b.scale);
  return scaled(a, scale) % scaled(b, scale) === 0n;
}
