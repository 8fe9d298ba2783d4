// The terminal as a value, so that a command can be run by a test.
import type { Environment } from '../config.ts';
import type { World } from '../core/world.ts';

export interface Terminal {
  out: (text: string) => void;
  err: (text: string) => void;
  /** Whether it goes to a terminal. Anything else may keep it: a secret would stay in a log. */
  isTerminal: boolean;
  /** Whether a person looks at what goes out: colours are welcome. */
  isScreen: boolean;
  /** The same of the log, of progress and of mistakes, which go another way. */
  log: { isTerminal: boolean; isColoured: boolean };
  /** Columns of what goes out, as wide as it is now; Infinity where nobody looks, so nothing is cut. */
  width: () => number;
  /** What is typed or piped in; read once. */
  input: { isTerminal: boolean; bytes: () => AsyncIterable<Uint8Array> };
  env: Environment;
  world: World;
  /** Resolves when the person, or the system, asks the program to stop; heard once it was asked for. */
  stopped: Promise<void>;
}
