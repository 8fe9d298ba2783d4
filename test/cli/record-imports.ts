// Preloaded into a program: records the modules that each thread loads, in one file per thread in TEST_LOADED.
import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { isMainThread, threadName } from 'node:worker_threads';

const file = join(process.env['TEST_LOADED'] ?? '', isMainThread ? 'main' : String(threadName));
registerHooks({
  load: (url, context, next) => {
    appendFileSync(file, `${url}\n`);
    return next(url, context);
  },
});
