// Declares `ringback subscribe`; its implementation is loaded when it runs.
import type { Command } from '../command.ts';
import { connectFlags } from '../connect.ts';

export const subscribe: Command = {
  name: 'subscribe',
  group: 'use',
  summary: 'gives a URL that is called back when something happens',
  usage: [
    'ringback subscribe URL [--event NAME]',
    'ringback subscribe [--in-progress URL] [--failed URL] [--success URL]',
  ],
  about:
    'Without --event it hears every event. With one name, the callback goes to URL?event=NAME, as the ' +
    'contract says; with several, or with patterns such as order.*, to URL itself. What is chosen by the ' +
    'other flags can be changed later, in the console or by PATCH /subscriptions/{id}.',
  positionals: { URL: 'where callbacks are sent: https://receiver.example/hook' },
  flags: {
    event: {
      kind: 'text',
      placeholder: 'NAME',
      isRepeatable: true,
      says: 'hear this event, or all that fit order.*',
    },
    'in-progress': { kind: 'text', placeholder: 'URL', says: 'hears the event inProgress' },
    failed: { kind: 'text', placeholder: 'URL', says: 'hears the event failed' },
    success: { kind: 'text', placeholder: 'URL', says: 'hears the event success' },
    filter: {
      kind: 'text',
      placeholder: 'PLACE=VALUE',
      isRepeatable: true,
      says: 'only payloads with this value there: /order/country=NL',
    },
    ordered: { kind: 'switch', says: 'one delivery after the other, in the order of events' },
    rate: { kind: 'text', placeholder: 'N', says: 'attempts a second, at most: 5 or 0.5' },
    concurrency: {
      kind: 'count',
      placeholder: 'N',
      min: 1,
      max: 128,
      says: 'attempts at a time, for each callback and node',
    },
    timeout: { kind: 'text', placeholder: 'TIME', says: 'how long an attempt may take: 5s' },
    retry: {
      kind: 'text',
      placeholder: 'WAITS',
      says: 'waits between attempts: 5s,5m,2h, or none for one attempt only',
    },
    header: {
      kind: 'text',
      placeholder: "'NAME: VALUE'",
      isRepeatable: true,
      says: 'a header that callbacks carry',
    },
    signing: {
      kind: 'choice',
      placeholder: 'HOW',
      choices: ['hmac', 'ed25519'],
      says: 'a shared secret (hmac), or a key pair of which the receiver has the public half',
    },
    expires: { kind: 'text', placeholder: 'WHEN', says: 'when it ends by itself: 30d, or a time' },
    description: { kind: 'text', placeholder: 'TEXT', says: 'for people' },
    metadata: {
      kind: 'text',
      placeholder: 'NAME=VALUE',
      isRepeatable: true,
      says: 'for programs',
    },
    'idempotency-key': {
      kind: 'text',
      placeholder: 'TEXT',
      says: 'subscribe once, however often it is repeated with this text within 24 hours',
    },
    ...connectFlags,
  },
  takesSettings: false,
  json: 'subscriberId and secret',
  examples: [
    { line: 'ringback subscribe https://receiver.example/hook', says: 'every event' },
    {
      line: 'ringback subscribe https://receiver.example/hook --event order.created',
      says: 'one event',
    },
    {
      line: `ringback subscribe https://receiver.example/hook --event 'order.*' --filter /order/country=NL --ordered`,
      says: 'Dutch orders, one after the other',
    },
    {
      line: 'ringback subscribe --failed https://receiver.example/failed --success https://receiver.example/done',
      says: 'how something ended, each to its own URL',
    },
  ],
  run: async (call, terminal) => (await import('../subscribe.ts')).subscribe(call, terminal),
};
