// fast-check with the same seed in every run: a test that fails for one draw in a thousand must not fail
// in a change that has nothing to do with it. `npm run soak` draws anew; SEED=… does so for one file.
import fc from 'fast-check';

export const seed = Number(process.env['SEED'] ?? 1);

/** `npm run quick`: a fraction of the cases of long properties. No property fails by it. */
const isQuick = process.env['QUICK'] === '1';

fc.configureGlobal({ seed, ...(isQuick ? { interruptAfterTimeLimit: 200 } : {}) });

export { fc };
