// Refuses flags that have no meaning beside another argument. Ignoring one could be dangerous: a
// replay of everything would look as if it were filtered.
import type { Invocation } from './command.ts';
import { calledWrongly } from '../terminal/failure.ts';

/** `what`: the argument they stand beside, `--watch` or an id. */
export function refuseBeside(call: Invocation, what: string, flags: readonly string[]): void {
  const given = flags.find((flag) => call.isOn(flag));
  if (given === undefined) return;
  throw calledWrongly(`Cannot combine --${given} with ${what}: remove one of them`);
}
