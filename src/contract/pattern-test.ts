// Tests texts against a pattern of a document, in bounded time.
import { bounds } from './bounds.ts';
import { makeMeter } from './meter.ts';
import { readRegex } from './regex.ts';

/** False for a pattern that cannot be run, and for a text that takes too long. */
export function patternTest(pattern: string): (text: string) => boolean {
  const reading = readRegex(pattern);
  if (reading.kind === 'refused') return () => false;
  const meter = makeMeter();
  return (text) => {
    meter.refill(bounds.checkStepsMax);
    try {
      return reading.regex.test(text, meter);
    } catch {
      return false;
    }
  };
}
