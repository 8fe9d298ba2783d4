// `ringback customers` lists customers. `ringback subscriptions`: lists subscriptions, or shows one with its health; confirms, pauses, resumes or
// pings it, and shows or rotates its secret.
import type { Client, CustomerSummary, Subscription } from '../../client/client.ts';
import { durationMs } from '../../core/base/parse-time.ts';
import { subscriptionStates } from '../../core/domain/subscription.ts';
import { listed } from '../../core/errors/did-you-mean.ts';
import type { Invocation } from '../declare/command.ts';
import { refuseBeside } from '../declare/flags.ts';
import { listFlags } from '../service/filter-flags.ts';
import { expectId } from '../service/id-kind.ts';
import { json, showList, viewOf, paintState, stateColumn, type View } from '../service/view.ts';
import { withService } from '../service/with-service.ts';
import { calledWrongly } from '../terminal/failure.ts';
import { harmless } from '../terminal/text.ts';
import type { Column } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';

export async function subscriptions(call: Invocation, terminal: Terminal): Promise<void> {
  const [id, ...more] = call.positionals;
  if (more.length > 0) {
    throw calledWrongly('Cannot show several subscriptions: expected at most one SUB');
  }
  const action = readAction(call, id);
  if (id !== undefined) {
    const ofLists = ['state', 'event', 'target', 'subject', 'customer', ...Object.keys(listFlags)];
    refuseBeside(call, `"${id}"`, ofLists);
  }
  const filters = {
    state: subscriptionStates.find((one) => one === call.text('state')),
    event: call.text('event'),
    url: call.text('target'),
    subject: call.text('subject'),
    customer: call.text('customer'),
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

export async function customers(call: Invocation, terminal: Terminal): Promise<void> {
  await withService(call, async ({ client }) =>
    showList(call, terminal, {
      list: (limit) => client.customers.list({ limit }),
      columns: customerColumns(viewOf(terminal)),
      none: 'No customers yet. Name one: ringback subscribe http://127.0.0.1:3000/hook --customer cus_1',
    }),
  );
}

function customerColumns(view: View): Column<CustomerSummary>[] {
  const { paint } = view;
  return [
    { title: 'CUSTOMER', show: ({ customer }) => customer, shrinksTo: 20 },
    {
      title: 'HEALTH',
      show: ({ health }) => healthText(health, view),
      paint: ({ health }, text) => paintState(paint, health.state, text),
      rank: 9,
    },
    { title: 'ACTIVE', show: ({ subscriptions: { active } }) => String(active), rank: 8 },
    { title: 'PAUSED', show: ({ subscriptions: { paused } }) => String(paused), rank: 7 },
    { title: 'DISABLED', show: ({ subscriptions: { disabled } }) => String(disabled), rank: 8 },
  ];
}

const actions = ['confirm', 'pause', 'resume', 'ping', 'secret', 'rotate-secret'] as const;
type Action = (typeof actions)[number] | 'show';

function readAction(call: Invocation, id: string | undefined): Action {
  const given = actions.filter((one) => call.isOn(one));
  if (given.length > 1) {
    throw calledWrongly(
      `Cannot run several actions at once: give either ${listed(given.map((one) => `--${one}`))}`,
    );
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
  confirm: 'confirm',
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
    case 'confirm': {
      const subscription = await client.subscriptions.confirm(id);
      return isJson ? json(subscription) : `Confirmed ${id}. It is ${subscription.state}.\n`;
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

// Shows subscriptions to people: a line each, or one with all its settings.

function subscriptionColumns({ paint, when }: View): Column<Subscription>[] {
  return [
    { title: 'ID', show: ({ id }) => id },
    stateColumn(paint),
    { title: 'SUBJECT', show: ({ subject }) => subject ?? '', rank: 7, shrinksTo: 12 },
    { title: 'CUSTOMER', show: ({ customer }) => customer ?? '', rank: 8, shrinksTo: 12 },
    { title: 'EVENTS', show: eventList, rank: 7, shrinksTo: 12 },
    { title: 'URL', show: firstUrl, rank: 8, shrinksTo: 16 },
    { title: 'CREATED', show: ({ createdAt }) => when(createdAt), rank: 6 },
    { title: 'DESCRIPTION', show: ({ description }) => description ?? '', rank: 5, shrinksTo: 12 },
  ];
}

/** The events of active callbacks; if none is active, of all. */
function eventList({ callbacks }: Subscription): string {
  const active = callbacks.filter(({ inactive }) => inactive === undefined);
  const events = (active.length === 0 ? callbacks : active).flatMap((one) => one.events);
  return [...new Set(events)].join(', ');
}

function firstUrl({ callbacks }: Subscription): string {
  const urls = callbacks.flatMap(({ url }) => (url === undefined ? [] : [url]));
  const [first = ''] = urls;
  return urls.length > 1 ? `${first} +${urls.length - 1}` : first;
}

function showSubscription(view: View, subscription: Subscription): string {
  const { paint, exactly } = view;
  const { health, callbacks } = subscription;
  const head = view.facts([
    ['subscription', subscription.id],
    ['state', subscription.state, (text) => paintState(paint, subscription.state, text)],
    ['confirm by', exactly(subscription.confirmBy)],
    ['subject', subscription.subject],
    ['customer', subscription.customer],
    ['description', subscription.description ?? undefined],
    ['contract', `${subscription.contract}, ${subscription.operation}`],
    ['request', subscription.exchange && exchangeText(subscription.exchange)],
    ['created', exactly(subscription.createdAt)],
    ['expires', exactly(subscription.expiresAt)],
    ['ended', exactly(subscription.endedAt)],
    ['reason', subscription.endReason],
    [
      'health',
      health === undefined ? undefined : healthText(health, view),
      (text) => paintState(paint, health?.state ?? '', text),
    ],
    ['filter', jsonText(subscription.filter)],
    ['ordered', subscription.ordered === true ? 'yes' : undefined],
    ['rate', each(subscription.rateLimit, 'per second')],
    ['concurrency', each(subscription.concurrency, 'at a time')],
    ['timeout', subscription.timeout ?? undefined],
    ['retry', retryText(subscription.retry)],
    ['signing', subscription.signing ?? undefined],
    ['headers', subscription.headerNames?.join(', ')],
    ['metadata', jsonText(subscription.metadata)],
  ]);
  const rows = view.table(callbackColumns(view), callbacks);
  const { id } = subscription;
  const next = `List its deliveries: ringback deliveries --to ${id}`;
  return `${head}\n${rows}\n${next}\n`;
}

/** The request to an API that made it. */
function exchangeText({ requestId, status }: NonNullable<Subscription['exchange']>): string {
  return `${requestId}, ${status === undefined ? 'its answer is not known' : `answered ${status}`}`;
}

type SubscriptionCallback = Subscription['callbacks'][number];

function callbackColumns({ paint }: View): Column<SubscriptionCallback>[] {
  return [
    { title: 'CALLBACK', show: ({ label }) => label },
    { title: 'EVENTS', show: ({ events }) => events.join(', '), rank: 8, shrinksTo: 12 },
    {
      title: 'URL',
      show: ({ method, url }) => (url === undefined ? '' : `${method} ${url}`),
      rank: 9,
      shrinksTo: 20,
    },
    {
      title: 'INACTIVE',
      show: ({ inactive }) => inactive ?? '',
      paint: (_, text) => paint('yellow', text),
      rank: 7,
      shrinksTo: 12,
    },
  ];
}

function healthText(health: NonNullable<Subscription['health']>, { when }: View): string {
  const { state, failures, failingSince, nextAttemptAt } = health;
  return [
    state,
    failures === 0 ? '' : `${failures} consecutive failures`,
    failingSince === undefined ? '' : `since ${when(failingSince)}`,
    nextAttemptAt === undefined ? '' : `next attempt ${when(nextAttemptAt)}`,
  ]
    .filter((part) => part !== '')
    .join(', ');
}

function jsonText(value: unknown): string | undefined {
  return value === undefined || value === null ? undefined : JSON.stringify(value);
}

function retryText(retry: Subscription['retry']): string | undefined {
  if (retry === undefined || retry === null) return undefined;
  return retry.length === 0 ? 'none (a single attempt)' : retry.join(', ');
}

function each(value: number | null | undefined, unit: string): string | undefined {
  return value === undefined || value === null ? undefined : `${value} ${unit}`;
}
