// The terminal as a value, so that tests can run commands.
import type { Environment } from '../../config.ts';
import type { World } from '../../core/base/world.ts';

export interface Terminal {
  out: (text: string) => void;
  err: (text: string) => void;
  /** Whether stdout is a terminal. Anything else may be stored, and a secret with it. */
  isTerminal: boolean;
  /** Whether stdout is a terminal that takes colours. */
  isScreen: boolean;
  /** The same for stderr, which gets the log, progress and errors. */
  log: { isTerminal: boolean; isColoured: boolean };
  /** The current width of stdout; Infinity if it is not a terminal, so that nothing is cut. */
  width: () => number;
  /** Standard input; can be read once. */
  input: { isTerminal: boolean; bytes: () => AsyncIterable<Uint8Array> };
  env: Environment;
  world: World;
  /**
   * Resolves when the user or the system asks the program to stop; signals are handled from the
   * first use.
   */
  stopped: Promise<void>;
}

export function stopSignal({ stopped }: Pick<Terminal, 'stopped'>): AbortSignal {
  const leaving = new AbortController();
  void stopped.then(() => leaving.abort());
  return leaving.signal;
}
