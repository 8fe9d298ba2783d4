// `ringback serve`. The threads of the store load their program while this one loads the service, which takes
// about as long: nothing else that is large may be imported here.
import { prepareStore } from '../store/open.ts';
import type { Invocation } from './command.ts';
import { configOf } from './flags.ts';
import type { Terminal } from './terminal.ts';

export async function serve(call: Invocation, terminal: Terminal): Promise<void> {
  const { stopped } = terminal; // Heard from now on, also while it starts.
  const config = configOf(call, terminal.err);
  await using store = prepareStore(config.database);
  const { runService } = await import('./run-service.ts');
  await runService({ config, openStore: store.open, stopped }, call, terminal);
}
