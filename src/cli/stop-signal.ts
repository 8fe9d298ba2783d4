// Ctrl+C as a signal that ends what is under way at once: a call to a service that hangs has to hear it too.
import type { Terminal } from './terminal.ts';

export function stopSignal({ stopped }: Pick<Terminal, 'stopped'>): AbortSignal {
  const leaving = new AbortController();
  void stopped.then(() => leaving.abort());
  return leaving.signal;
}
