// fast-check with the same seed in every run: a test that fails for one case in a thousand must not fail
// in an unrelated change. `npm run soak` uses another seed; SEED=… does so for one file.
import fc from 'fast-check';

export const seed = Number(process.env['SEED'] ?? 1);

/** `npm run quick`: only a fraction of the cases of long properties, which then count as passed. */
const isQuick = process.env['QUICK'] === '1';

fc.configureGlobal({ seed, ...(isQuick ? { interruptAfterTimeLimit: 200 } : {}) });

export { fc };
