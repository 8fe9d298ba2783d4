#!/usr/bin/env node
// The entry point of the program. The compile cache and the V8 flags only affect files that are
// loaded afterwards, so this file must import nothing else.
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';

/**
 * V8 tracks which lines allocate objects that outlive a collection, and from then on lets them
 * allocate directly in the old generation. It comes to that conclusion for objects that wait for
 * the store, in some processes and not in others. Old-generation garbage then grows twentyfold, and
 * collections take several times as long: docs/performance.md.
 */
setFlagsFromString('--no-allocation-site-pretenuring');

/**
 * Beside the program: an attacker who can write there could change the program itself. Node's
 * default is a folder for all users of the machine. If the folder cannot be written there is no
 * cache, silently.
 */
const folder = join(import.meta.dirname, '..', 'node_modules', '.cache', 'ringback');
const { directory } = enableCompileCache(folder);
// Threads inherit it from here. A value set by the user wins.
if (directory !== undefined) process.env['NODE_COMPILE_CACHE'] ??= directory;

await import('./cli/program/program.ts');
