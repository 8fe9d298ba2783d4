// Measures the memory that is really held: garbage that has not been collected yet is not growth.
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const triesMax = 20;

/**
 * One collection is not enough, because sockets and threads end a turn later: after ten services with 70,000 requests,
 * one collection left 73 MiB and the next ones 54 and 53, as after the first service. So this collects until the heap
 * no longer shrinks.
 */
export async function heapMiB(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  let least = Infinity;
  let isLess = true;
  for (let tries = 0; isLess && tries < triesMax; tries += 1) {
    await setImmediate();
    collect();
    await setImmediate();
    collect();
    const { heapUsed, external } = process.memoryUsage();
    const held = Math.round((heapUsed + external) / 2 ** 20);
    isLess = held < least;
    least = Math.min(least, held);
  }
  return least;
}
