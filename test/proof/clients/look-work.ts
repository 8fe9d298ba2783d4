// A program for controls: counts the work of requests, and prints its finding.
import { countWork, smallSizes } from './counted-work.ts';

process.stdout.write(JSON.stringify(await countWork(smallSizes)));
