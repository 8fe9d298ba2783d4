#!/usr/bin/env node
// Where the program starts. What Node makes of its files, stripped and compiled, is kept for the next start, and
// that must be said before they are imported, as must how memory is used: so nothing else is imported here.
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';

/**
 * V8 looks which lines make objects that outlive a collection, and then lets those lines make all of theirs among the
 * old ones, for good; of what waits for the store it came to think so, probably while its first collections follow each
 * other closely. Seen in some processes and not in others: 4.5 MB grew old between two collections instead of 0.2 (6.5
 * KB a request), and each took 6 to 9 ms instead of 2.7.
 */
setFlagsFromString('--no-allocation-site-pretenuring');

/**
 * Beside the program: whoever may write there may change the program itself. Node's own choice is a folder for
 * all users of the machine. Where it cannot be written there is no cache, and nobody is told.
 */
const folder = join(import.meta.dirname, '..', 'node_modules', '.cache', 'ringback');
const { directory } = enableCompileCache(folder);
// Threads know it from here. What the user has set stays.
if (directory !== undefined) process.env['NODE_COMPILE_CACHE'] ??= directory;

await import('./cli/program.ts');
