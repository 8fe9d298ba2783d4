// Settings that the databases of earlier releases were created with.
import { join } from 'node:path';

export const fixturesDir = join(import.meta.dirname, 'fixtures');
export const fixtureApiKey = 'f'.repeat(40);

export const fixtureEnv = {
  RINGBACK_API_KEY: fixtureApiKey,
  RINGBACK_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
  RINGBACK_LOG: 'silent',
};
