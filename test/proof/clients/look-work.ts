// A program for controls: counts the work of requests, and prints what it found.
import { countWork, smallSizes } from './counted-work.ts';

process.stdout.write(JSON.stringify(await countWork(smallSizes)));
