// `ringback subscriptions`: lists subscriptions, or shows one with its health; pauses, resumes or
// pings it, and shows or rotates its secret.
import type { Client, Subscription } from '../../client/client.ts';
import { durationMs } from '../../core/base/duration.ts';
import type { Invocation } from '../declare/command.ts';
import { listFlags, subscriptionStates } from '../service/filter-flags.ts';
import { calledWrongly } from '../terminal/failure.ts';
import { harmless } from '../terminal/harmless.ts';
import { expectId } from '../service/id-kind.ts';
import { listed } from '../../core/errors/nearest.ts';
import { refuseBeside } from '../declare/refuse-beside.ts';
import { showSubscription, subscriptionColumns } from './subscription-view.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { json, showList, viewOf } from '../service/view.ts';
import { withService } from '../service/with-service.ts';

export async function subscriptions(call: Invocation, terminal: Terminal): Promise<void> {
  const [id, ...more] = call.positionals;
  if (more.length > 0) {
    throw calledWrongly('Cannot show several subscriptions: expected at most one SUB');
  }
  const action = readAction(call, id);
  if (id !== undefined) {
    refuseBeside(call, `"${id}"`, ['state', 'event', 'target', ...Object.keys(listFlags)]);
  }
  const filters = {
    state: subscriptionStates.find((one) => one === call.text('state')),
    event: call.text('event'),
    url: call.text('target'),
  };
  const isFiltered = Object.values(filters).some((value) => value !== undefined);
  await withService(call, async ({ client }) =>
    id === undefined
      ? showList(call, terminal, {
          list: (limit) => client.subscriptions.list({ ...filters, limit }),
          columns: subscriptionColumns(viewOf(terminal)),
          none: isFiltered
            ? 'No subscription matches. Remove a filter, or list all: ringback subscriptions'
            : 'No subscriptions yet. Create one: ringback subscribe http://127.0.0.1:3000/hook',
        })
      : terminal.out(await act({ call, terminal, client }, id, action)),
  );
}

const actions = ['pause', 'resume', 'ping', 'secret', 'rotate-secret'] as const;
type Action = (typeof actions)[number] | 'show';

function readAction(call: Invocation, id: string | undefined): Action {
  const given = actions.filter((one) => call.isOn(one));
  if (given.length > 1) {
    throw calledWrongly(`Cannot combine ${listed(given.map((one) => `--${one}`))}: give only one`);
  }
  const [action = 'show'] = given;
  if (id !== undefined) expectId('sub', id, verbs[action]);
  else if (action !== 'show')
    throw calledWrongly(`Cannot ${verbs[action]}: no subscription given, expected sub_…`);
  if (call.text('overlap') !== undefined && action !== 'rotate-secret') {
    throw calledWrongly('Cannot use --overlap: it requires --rotate-secret');
  }
  return action;
}

const verbs: Readonly<Record<Action, string>> = {
  show: 'show',
  pause: 'pause',
  resume: 'resume',
  ping: 'ping',
  secret: 'show the secret of',
  'rotate-secret': 'replace the secret of',
};

interface Deps {
  call: Invocation;
  terminal: Terminal;
  client: Client;
}

async function act(deps: Deps, id: string, action: Action): Promise<string> {
  const { call, terminal, client } = deps;
  const { isJson } = call;
  switch (action) {
    case 'show': {
      const subscription = await client.subscriptions.get(id);
      return isJson ? json(subscription) : showSubscription(viewOf(terminal), subscription);
    }
    case 'pause':
    case 'resume': {
      const state = action === 'pause' ? 'paused' : 'active';
      const subscription = await client.subscriptions.edit(id, { state });
      return isJson ? json(subscription) : changed(subscription);
    }
    case 'ping': {
      const accepted = await client.subscriptions.ping(id);
      if (isJson) return json(accepted);
      const follow = `ringback deliveries --event-id ${accepted.eventId}`;
      return accepted.deliveries === 0
        ? `Nothing was sent: ${id} has no active callback. See ringback subscriptions ${id}\n`
        : `Sent ringback.ping as ${accepted.eventId}. Follow it: ${follow}\n`;
    }
    case 'secret':
    case 'rotate-secret': {
      const answer =
        action === 'secret'
          ? await client.subscriptions.secret(id)
          : await client.subscriptions.rotateSecret(id, overlap(call));
      return isJson ? json(answer) : secretText(answer);
    }
  }
}

function changed({ id, state }: Subscription): string {
  return state === 'paused'
    ? `Paused ${id}. New deliveries stay pending. Resume with: ringback subscriptions ${id} ` +
        '--resume\n'
    : `Resumed ${id}. Pending deliveries are being sent.\n`;
}

function overlap(call: Invocation): { overlapSeconds?: number } {
  const text = call.text('overlap');
  if (text === undefined) return {};
  const ms = durationMs(text);
  if (ms === undefined || ms % 1_000 !== 0) {
    throw calledWrongly(
      `Cannot read --overlap "${text}": expected a duration in whole seconds, such as 0s or ` +
        '1d',
    );
  }
  return { overlapSeconds: ms / 1_000 };
}

type SecretAnswer = Awaited<ReturnType<Client['subscriptions']['secret']>>;

/** The secret is alone on its line, so that it can be copied. */
function secretText({ secret, previous }: SecretAnswer): string {
  const old =
    previous === undefined
      ? ''
      : `${harmless(previous.secret)}  (previous secret, valid until ${previous.expiresAt})\n`;
  return `${harmless(secret)}\n${old}`;
}
