#!/usr/bin/env node
// Where the program starts. What Node makes of its files, stripped and compiled, is kept for the next start, and
// that must be said before they are imported: so nothing else is imported here.
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

/**
 * Beside the program: whoever may write there may change the program itself. Node's own choice is a folder for
 * all users of the machine. Where it cannot be written there is no cache, and nobody is told.
 */
const folder = join(import.meta.dirname, '..', 'node_modules', '.cache', 'ringback');
const { directory } = enableCompileCache(folder);
// Threads know it from here. What the user has set stays.
if (directory !== undefined) process.env['NODE_COMPILE_CACHE'] ??= directory;

await import('./cli/program.ts');
