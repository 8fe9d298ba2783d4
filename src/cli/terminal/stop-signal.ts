// Ctrl+C as an abort signal, which also ends a call to a service that hangs.
import type { Terminal } from './terminal.ts';

export function stopSignal({ stopped }: Pick<Terminal, 'stopped'>): AbortSignal {
  const leaving = new AbortController();
  void stopped.then(() => leaving.abort());
  return leaving.signal;
}
