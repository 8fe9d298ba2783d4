// Declares `ringback publish`; its implementation is loaded when it runs.
import type { Command } from '../declare/command.ts';
import { connectFlags } from '../service/connect.ts';

export const publish: Command = {
  name: 'publish',
  group: 'events',
  summary: 'Publish an event, or a file of events',
  usage: [
    'ringback publish EVENT PAYLOAD [--subject TEXT] [--customer TEXT] [--to SUB] [--wait]',
    'ringback publish EVENT (--message TEXT | --file FILE | -)',
    'ringback publish --batch FILE',
  ],
  about:
    'The payload is JSON and is sent byte for byte as given. A --batch file holds one ' +
    'event per line, as {"event": "order.created", "payload": {…}}; a line may also have ' +
    'a "subject" and a "customer". "-" reads standard input. The file is published in batches of up to ' +
    '1,000 events; each batch is accepted completely or not at all. An interrupted or rejected run can be repeated ' +
    'within 24 hours: batches that were already accepted are recognized by the lines up ' +
    'to their end and are not published again. If the file has grown since, its last ' +
    'batch counts as new: publish added lines as a file of their own. To publish the same ' +
    'file again, pass a different --idempotency-key.',
  positionals: {
    EVENT: 'Name of the event, such as order.created',
    PAYLOAD: 'JSON, quoted for the shell; "-" reads it from standard input',
  },
  flags: {
    message: { kind: 'text', placeholder: 'TEXT', says: 'Use {"message": TEXT} as the payload' },
    file: { kind: 'text', placeholder: 'FILE', says: 'Read the payload from a file' },
    batch: {
      kind: 'text',
      placeholder: 'FILE',
      says: 'Publish a file with one event per line',
    },
    subject: {
      kind: 'text',
      placeholder: 'TEXT',
      says: 'What the event is about, such as job_17: skips subscriptions with another subject',
    },
    customer: {
      kind: 'text',
      placeholder: 'TEXT',
      says: 'Reach only subscriptions of this customer, such as cus_1',
    },
    audience: {
      kind: 'choice',
      placeholder: 'WHO',
      choices: ['all'],
      says: 'all: reach every subscription that matches the event, whatever its subject',
    },
    to: {
      kind: 'text',
      placeholder: 'SUB',
      says: 'Deliver only to this subscription, if it matches the event',
    },
    wait: {
      kind: 'switch',
      says: 'Wait until all deliveries have ended; fail if one is dead-lettered',
    },
    'idempotency-key': {
      kind: 'text',
      placeholder: 'TEXT',
      says: 'Publish once, even if repeated with this key within 24 hours',
    },
    contract: {
      kind: 'text',
      placeholder: 'TITLE',
      says: 'Contract of the event, if several contracts define this name',
    },
    ...connectFlags,
  },
  takesSettings: false,
  json: 'eventId and deliveries; with --wait, the number per outcome; with --batch, the totals',
  examples: [
    {
      line: 'ringback publish order.created --message "Order 42 was placed"',
      says: 'Publish with the payload that the built-in contract expects',
    },
    {
      line: `ringback publish order.created '{"message": "Order 42", "total": 12.50}' --wait`,
      says: 'Publish and wait until all subscribers have received it',
    },
    {
      line: 'ringback publish order.created --file order.json',
      says: 'Read the payload from a file',
    },
    { line: 'ringback publish --batch orders.ndjson', says: 'Publish many events; safe to repeat' },
  ],
  exitCodes: { 130: 'Interrupted with Ctrl+C while waiting; deliveries continue' },
  run: async (call, terminal) => (await import('../publish/publish.ts')).publish(call, terminal),
};
