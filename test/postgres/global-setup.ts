// Runs once, before and after all test files (`node --test-global-setup`): one PostgreSQL for all.
// Each file would need a second for its own.
import type { Postgres } from './server.ts';
import { startShared } from './shared.ts';

let server: Postgres | undefined;

/** Test files inherit the variable. A server that the user named is taken as it is. */
export async function globalSetup(): Promise<void> {
  if ((process.env['TEST_DATABASE_URL'] ?? '') !== '') return;
  try {
    server = await startShared();
    process.env['TEST_DATABASE_URL'] = server.url();
  } catch (error) {
    // The other tests can run; those that need PostgreSQL fail one by one and say why.
    console.error(error);
  }
}

export async function globalTeardown(): Promise<void> {
  await server?.[Symbol.asyncDispose]();
}
