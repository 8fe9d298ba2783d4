// `ringback portal`: creates a link to the portal of a customer.
import { abilities, type Ability } from '../../core/domain/session.ts';
import { listed } from '../../core/errors/did-you-mean.ts';
import type { Invocation } from '../declare/command.ts';
import { json } from '../service/view.ts';
import { withService } from '../service/with-service.ts';
import { calledWrongly } from '../terminal/failure.ts';
import type { Terminal } from '../terminal/terminal.ts';

export async function portal(call: Invocation, terminal: Terminal): Promise<void> {
  const [customer, ...more] = call.positionals;
  if (customer === undefined || more.length > 0) {
    throw calledWrongly('Cannot create the link: expected one customer, such as cus_1');
  }
  const can = readAbilities(call.text('can'));
  const expiresIn = call.text('expires-in');
  await withService(call, async ({ client }) => {
    const link = await client.customers.portalLink({
      customer,
      ...(can !== undefined && { can }),
      ...(expiresIn !== undefined && { expiresIn }),
    });
    if (call.isJson) return terminal.out(json(link));
    terminal.out(`${link.url}\n`);
    const closes = `the portal closes at ${link.expiresAt}`;
    terminal.err(
      `Opens once, within an hour; ${closes}. The first person who opens it acts as ${customer}.\n`,
    );
  });
}

function readAbilities(text: string | undefined): Ability[] | undefined {
  if (text === undefined) return undefined;
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => abilities.every((ability) => ability !== name));
  if (unknown !== undefined) {
    throw calledWrongly(`Cannot read --can "${text}": "${unknown}" is not ${listed(abilities)}`);
  }
  return abilities.filter((ability) => names.includes(ability));
}
