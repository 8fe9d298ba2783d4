// `ringback unsubscribe`: ends a subscription with all its callbacks. Ending it again changes
// nothing.
import type { Invocation } from '../declare/command.ts';
import { calledWrongly } from '../terminal/failure.ts';
import { expectId } from '../service/id-kind.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { json } from '../service/view.ts';
import { withService } from '../service/with-service.ts';

export async function unsubscribe(call: Invocation, terminal: Terminal): Promise<void> {
  const [id, ...more] = call.positionals;
  if (id === undefined || more.length > 0) {
    throw calledWrongly('Cannot unsubscribe: expected one subscription, sub_…');
  }
  expectId('sub', id, 'unsubscribe');
  const answer = await withService(call, async ({ client }) => client.unsubscribe(id));
  terminal.out(call.isJson ? json(answer) : `Unsubscribed ${id}. Nothing more is sent to it.\n`);
}
