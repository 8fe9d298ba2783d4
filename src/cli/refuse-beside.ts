// Nothing that was typed is passed over: a flag that means nothing beside another word is a mistake. It could
// be a dangerous one, such as a replay of everything that looked as if it had a limit.
import type { Invocation } from './command.ts';
import { calledWrongly } from './failure.ts';

/** `what` is what they stand beside: `--watch`, or an id. */
export function refuseBeside(call: Invocation, what: string, flags: readonly string[]): void {
  const given = flags.find((flag) => call.isOn(flag));
  if (given === undefined) return;
  throw calledWrongly(`Cannot combine --${given} with ${what}: remove one of them`);
}
