// When a turn of the event loop ends. The simulation passes its own instead.
import { setImmediate as atEndOfTurn } from 'node:timers';

export { atEndOfTurn };

export async function endOfTurn(): Promise<void> {
  return new Promise((resolve) => atEndOfTurn(resolve));
}
