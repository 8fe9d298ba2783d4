// Declares `ringback subscribe`, `unsubscribe`, `subscriptions` and `listen`; their implementation
// is loaded when they run.
import type { Command } from '../declare/command.ts';
import { connectFlags } from '../service/connect.ts';
import { abilities } from '../../core/domain/session.ts';
import { subscriptionStates } from '../../core/domain/subscription.ts';
import { customerFlag, listFlags, subjectFlag } from '../service/filter-flags.ts';

export const subscribe: Command = {
  name: 'subscribe',
  group: 'events',
  summary: 'Subscribe a URL to events',
  usage: [
    'ringback subscribe URL [--event NAME]',
    'ringback subscribe [--in-progress URL] [--failed URL] [--success URL]',
  ],
  about:
    'Without --event, the subscription matches every event. With one event name, ' +
    'callbacks go to URL?event=NAME, as the contract defines; with several names, or ' +
    'patterns such as order.*, they go to URL itself. Everything set with the other ' +
    'options can be changed later, in the console or with PATCH /subscriptions/{id}.',
  positionals: { URL: 'URL that receives callbacks: https://receiver.example/hook' },
  flags: {
    event: {
      kind: 'text',
      placeholder: 'NAME',
      isRepeatable: true,
      says: 'Subscribe to this event, or to events matching a pattern such as order.*',
    },
    'in-progress': {
      kind: 'text',
      placeholder: 'URL',
      says: 'Subscribe this URL to the event inProgress',
    },
    failed: { kind: 'text', placeholder: 'URL', says: 'Subscribe this URL to the event failed' },
    success: { kind: 'text', placeholder: 'URL', says: 'Subscribe this URL to the event success' },
    filter: {
      kind: 'text',
      placeholder: 'PATH=VALUE',
      isRepeatable: true,
      says: 'Only payloads with this value at this JSON pointer: /order/country=NL',
    },
    ordered: { kind: 'switch', says: 'Deliver one at a time, in the order of events' },
    rate: {
      kind: 'text',
      placeholder: 'N',
      says: 'Send at most N attempts per second, such as 5 or 0.5',
    },
    concurrency: {
      kind: 'count',
      placeholder: 'N',
      min: 1,
      max: 128,
      says: 'Send at most N attempts at a time, per callback and node',
    },
    timeout: { kind: 'text', placeholder: 'TIME', says: 'Timeout of an attempt: 5s' },
    retry: {
      kind: 'text',
      placeholder: 'DELAYS',
      says: 'Delays between attempts: 5s,5m,2h, or none for a single attempt',
    },
    header: {
      kind: 'text',
      placeholder: "'NAME: VALUE'",
      isRepeatable: true,
      says: 'Header to send with every callback',
    },
    signing: {
      kind: 'choice',
      placeholder: 'METHOD',
      choices: ['hmac', 'ed25519'],
      says:
        'Sign with a shared secret (hmac), or with a key pair whose public half the receiver ' +
        'holds',
    },
    expires: {
      kind: 'text',
      placeholder: 'WHEN',
      says: 'When the subscription ends: after a duration (30d) or at a timestamp',
    },
    customer: {
      kind: 'text',
      placeholder: 'TEXT',
      says: 'Whose it is, such as cus_1: skips events of other customers',
    },
    description: { kind: 'text', placeholder: 'TEXT', says: 'Description, shown in lists' },
    metadata: {
      kind: 'text',
      placeholder: 'NAME=VALUE',
      isRepeatable: true,
      says: 'Metadata for your own programs',
    },
    'idempotency-key': {
      kind: 'text',
      placeholder: 'TEXT',
      says: 'Subscribe once, even if repeated with this key within 24 hours',
    },
    ...connectFlags,
  },
  takesSettings: false,
  json: 'subscriberId and secret',
  examples: [
    { line: 'ringback subscribe https://receiver.example/hook', says: 'Subscribe to every event' },
    {
      line: 'ringback subscribe https://receiver.example/hook --event order.created',
      says: 'Subscribe to one event',
    },
    {
      line: `ringback subscribe https://receiver.example/hook --event 'order.*' --filter /order/country=NL --ordered`,
      says: 'Subscribe to Dutch orders, delivered in order',
    },
    {
      line: 'ringback subscribe --failed https://receiver.example/failed --success https://receiver.example/done',
      says: 'Send each outcome to its own URL',
    },
  ],
  run: async (call, terminal) =>
    (await import('../subscriptions/subscribe.ts')).subscribe(call, terminal),
};

export const unsubscribe: Command = {
  name: 'unsubscribe',
  group: 'events',
  summary: 'End a subscription and all its callbacks',
  usage: ['ringback unsubscribe SUB'],
  about:
    'Cancels its pending deliveries. Ending a subscription that has already ended changes ' +
    'nothing. To stop only temporarily, use ringback subscriptions SUB --pause',
  positionals: { SUB: 'Subscription, as in sub_…' },
  flags: { ...connectFlags },
  takesSettings: false,
  json: 'subscriberId',
  examples: [
    { line: 'ringback unsubscribe sub_01jc4t6v8m3q5r7w9x1y2z3a4b', says: 'End a subscription' },
  ],
  run: async (call, terminal) =>
    (await import('../subscriptions/subscribe.ts')).unsubscribe(call, terminal),
};

export const subscriptions: Command = {
  name: 'subscriptions',
  group: 'inspect',
  summary: 'List subscriptions; show, confirm, pause, resume or ping one',
  usage: [
    'ringback subscriptions [--state STATE] [--event NAME] [--target TEXT] [--subject TEXT] [--customer TEXT]',
    'ringback subscriptions SUB [--confirm | --pause | --resume | --ping]',
    'ringback subscriptions SUB (--secret | --rotate-secret)',
  ],
  positionals: { SUB: 'Subscription to show, with its overrides and the health of its receiver' },
  flags: {
    state: {
      kind: 'choice',
      placeholder: 'STATE',
      choices: subscriptionStates,
      says: 'In this state',
    },
    event: { kind: 'text', placeholder: 'NAME', says: 'That match this event' },
    target: { kind: 'text', placeholder: 'TEXT', says: 'Whose URL contains this text' },
    subject: subjectFlag,
    customer: customerFlag,
    ...listFlags,
    confirm: {
      kind: 'switch',
      says: 'Make an unconfirmed subscription active: the API accepted its request',
    },
    pause: { kind: 'switch', says: 'Stop sending; new deliveries stay pending' },
    resume: { kind: 'switch', says: 'Resume sending, also after the service disabled it' },
    ping: { kind: 'switch', says: 'Send a test event, ringback.ping' },
    secret: { kind: 'switch', says: 'Show the secret that its receiver verifies signatures with' },
    'rotate-secret': {
      kind: 'switch',
      says: 'Issue a new secret; the old one stays valid for a while',
    },
    overlap: {
      kind: 'text',
      placeholder: 'TIME',
      says: 'How long the old secret stays valid; 0s ends it at once (1d)',
    },
    ...connectFlags,
  },
  takesSettings: false,
  json: 'items and nextCursor; with SUB, the subscription or the response to the action',
  examples: [
    { line: 'ringback subscriptions', says: 'List the newest 50' },
    {
      line: 'ringback subscriptions --state disabled',
      says: 'List subscriptions that were disabled because their receivers kept failing',
    },
    {
      line: 'ringback subscriptions sub_01jc4t6v8m3q5r7w9x1y2z3a4b --ping',
      says: 'Check that a receiver responds',
    },
    {
      line: 'ringback subscriptions sub_01jc4t6v8m3q5r7w9x1y2z3a4b --rotate-secret --overlap 0s',
      says: 'Replace a leaked secret at once',
    },
  ],
  run: async (call, terminal) =>
    (await import('../subscriptions/subscriptions.ts')).subscriptions(call, terminal),
};

export const customers: Command = {
  name: 'customers',
  group: 'inspect',
  summary: 'List customers with their subscriptions and health',
  usage: ['ringback customers'],
  about:
    'A customer is listed while it has subscriptions, or had some that are still kept. For those of one: ' +
    'ringback subscriptions --customer cus_1',
  flags: { ...listFlags, ...connectFlags },
  takesSettings: false,
  json: 'items and nextCursor',
  examples: [{ line: 'ringback customers', says: 'List the first 50, by name' }],
  run: async (call, terminal) =>
    (await import('../subscriptions/subscriptions.ts')).customers(call, terminal),
};

export const portal: Command = {
  name: 'portal',
  group: 'inspect',
  summary: 'Create a link to the portal of a customer',
  usage: ['ringback portal CUSTOMER [--can view,retry,manage] [--expires-in 8h]'],
  about:
    'The link opens the portal once, within an hour. The person who opens it sees and changes what belongs to the ' +
    'customer, and nothing else.',
  positionals: { CUSTOMER: 'Whose portal it is, such as cus_1' },
  flags: {
    can: {
      kind: 'text',
      placeholder: 'LIST',
      says: `What the customer may do, separated by commas: ${abilities.join(', ')}; by default all`,
    },
    'expires-in': {
      kind: 'text',
      placeholder: 'DURATION',
      says: 'How long the portal stays open, from 1m to 7d; 8h by default',
    },
    ...connectFlags,
  },
  takesSettings: false,
  json: 'url, customer, can and expiresAt',
  examples: [
    { line: 'ringback portal cus_1 --can view', says: 'Let the customer look, for 8 hours' },
  ],
  run: async (call, terminal) =>
    (await import('../subscriptions/portal.ts')).portal(call, terminal),
};

export const listen: Command = {
  name: 'listen',
  group: 'run',
  summary: 'Subscribe this terminal and print callbacks as they arrive',
  usage: ['ringback listen [--event NAME] [--forward URL] [--listen-port PORT]'],
  about:
    'Verifies the signature of each callback, prints it, and responds with 200, or with ' +
    'the response of the --forward URL. Ctrl+C unsubscribes and exits. It listens on ' +
    '127.0.0.1, so the service must run on this machine.',
  flags: {
    event: {
      kind: 'text',
      placeholder: 'NAME',
      says: 'Only this event, or events matching a pattern such as order.*; default: all events',
    },
    forward: {
      kind: 'text',
      placeholder: 'URL',
      says: 'Forward each callback, unchanged, to this URL',
    },
    'listen-port': {
      kind: 'count',
      placeholder: 'PORT',
      max: 65_535,
      says: 'Port to receive callbacks on; 0 picks a free one (8081)',
    },
    ...connectFlags,
  },
  takesSettings: false,
  json: 'one line at the start, one per callback and one at the end; each has a kind',
  examples: [
    { line: 'ringback listen', says: 'Receive every event, with the key in RINGBACK_API_KEY' },
    { line: 'ringback listen --event order.created', says: 'Receive one event only' },
    {
      line: 'ringback listen --forward http://127.0.0.1:3000/callbacks',
      says: 'Forward to your own receiver and show its responses',
    },
    {
      line: `ringback listen --json | jq 'select(.kind == "callback") | .event'`,
      says: 'Print only the event names',
    },
  ],
  run: async (call, terminal) =>
    (await import('../subscriptions/listen.ts')).listen(call, terminal),
};
