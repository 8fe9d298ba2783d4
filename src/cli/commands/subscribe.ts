// Declares `ringback subscribe`; its implementation is loaded when it runs.
import type { Command } from '../declare/command.ts';
import { connectFlags } from '../service/connect.ts';

export const subscribe: Command = {
  name: 'subscribe',
  group: 'use',
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
