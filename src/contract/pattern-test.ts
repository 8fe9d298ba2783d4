// Asks whether texts fit a pattern of a document. Like everything that runs one, it ends in time.
import { bounds } from './bounds.ts';
import { makeMeter } from './meter.ts';
import { readRegex } from './regex.ts';

/** A pattern that cannot be run fits nothing; neither does a text that takes too long. */
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
