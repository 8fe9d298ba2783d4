// Loaded into the service that is attacked: it collects its garbage when it is told to, so that what it
// holds can be told from what it has not thrown away yet. Nothing else of it is changed.
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
