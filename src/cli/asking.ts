// The rhythm of asking a service how far something is: at once, then less and less often, until the asker
// leaves the loop. Ctrl+C is told as `stopped` at the next turn, which then comes at once.
import { limits } from '../core/limits.ts';
import type { Terminal } from './terminal.ts';

export async function* asking({
  world,
  stopped,
}: Pick<Terminal, 'world' | 'stopped'>): AsyncGenerator<'ask' | 'stopped'> {
  const leaving = new AbortController();
  void stopped.then(() => leaving.abort());
  let waitMs: number = limits.askEveryMs;
  while (!leaving.signal.aborted) {
    yield 'ask';
    await world.sleep(waitMs, leaving.signal).catch(() => {});
    waitMs = Math.min(waitMs * 1.5, limits.askEveryMaxMs);
  }
  yield 'stopped';
}
