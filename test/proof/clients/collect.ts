// Preloaded into the service under attack: SIGUSR2 runs the garbage collector, so that a leak can be told from
// garbage that has not been collected yet. Nothing else is changed.
import { setFlagsFromString } from 'node:v8';
import { isMainThread } from 'node:worker_threads';
import { runInNewContext } from 'node:vm';

if (isMainThread) {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  process.on('SIGUSR2', () => {
    collect();
    collect();
  });
}
