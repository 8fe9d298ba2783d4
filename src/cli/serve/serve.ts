// `ringback serve`. The store's threads load their code while this one loads the service, which
// takes about as long: so nothing large may be imported here statically.
import { prepareStore } from '../../store/open/open.ts';
import type { Invocation } from '../declare/command.ts';
import { configOf } from '../declare/flags.ts';
import type { Terminal } from '../terminal/terminal.ts';

export async function serve(call: Invocation, terminal: Terminal): Promise<void> {
  const { stopped } = terminal; // Signals are handled from now on, even during the start.
  const config = configOf(call, terminal.err);
  await using store = prepareStore(config.database);
  const { runService } = await import('./run-service.ts');
  await runService({ config, openStore: store.open, stopped }, call, terminal);
}
