// A program for the control: times keys, and prints what it found.
import { timeKeys } from './timing.ts';

process.stdout.write(JSON.stringify(await timeKeys({ rounds: 5, samples: 1_000 })));
