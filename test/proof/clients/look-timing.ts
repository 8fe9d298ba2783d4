// A program for the control: times the checks of keys, and prints its finding.
import { timeKeys } from './timing.ts';

process.stdout.write(JSON.stringify(await timeKeys({ rounds: 5, samples: 1_000 })));
