// How much memory is really held: what a collection would take is no growth.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

export function heapMiB(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  const { heapUsed, external } = process.memoryUsage();
  return Math.round((heapUsed + external) / 2 ** 20);
}
