// Runs once, before and after all test files (`node --test-global-setup`), for expensive things that can be
// shared: one PostgreSQL, which would take each file a second to start; the program, built as users start it;
// one folder for compiled source; and one for files that test files share (test/package/install-package.ts).
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildProgram } from '../../tools/build-program.ts';
import type { Postgres } from './server.ts';
import { startShared } from './shared-server.ts';

let server: Postgres | undefined;
const folders: string[] = [];

/** Test files inherit the variables. Variables that the user has set are kept. */
export async function globalSetup(): Promise<void> {
  shareFolder('NODE_COMPILE_CACHE', 'ringback-compiled-');
  shareFolder('TEST_SHARED_FOLDER', 'ringback-shared-');
  await buildProgram();
  process.env['TEST_PROGRAM'] = join(import.meta.dirname, '..', '..', 'dist', 'main.js');
  if ((process.env['TEST_DATABASE_URL'] ?? '') !== '') return;
  try {
    server = await startShared();
    process.env['TEST_DATABASE_URL'] = server.url();
  } catch (error) {
    // Other tests can still run; those that need PostgreSQL fail with a reason.
    console.error(error);
  }
}

export async function globalTeardown(): Promise<void> {
  await server?.[Symbol.asyncDispose]();
  for (const path of folders) rmSync(path, { recursive: true, force: true });
}

/**
 * The first folder caches compiled source, because hundreds of processes (test files and the programs that they
 * start) load the same files. With the cache, `ringback check` takes 0.18 s of CPU instead of 0.52.
 */
function shareFolder(variable: 'NODE_COMPILE_CACHE' | 'TEST_SHARED_FOLDER', prefix: string): void {
  if ((process.env[variable] ?? '') !== '') return;
  const path = mkdtempSync(join(tmpdir(), prefix));
  folders.push(path);
  process.env[variable] = path;
}
