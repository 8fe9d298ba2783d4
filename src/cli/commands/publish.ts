// Declares `ringback publish`; its implementation is loaded when it runs.
import type { Command } from '../command.ts';
import { connectFlags } from '../connect.ts';

export const publish: Command = {
  name: 'publish',
  group: 'use',
  summary: 'says that something happened: an event, or a file of them',
  usage: [
    'ringback publish EVENT PAYLOAD [--to SUB] [--wait]',
    'ringback publish EVENT (--message TEXT | --file FILE | -)',
    'ringback publish --batch FILE',
  ],
  about:
    'The payload is JSON and leaves as it is given, byte for byte. A file for --batch has one event in ' +
    'each line: {"event": "order.created", "payload": {…}}; "-" is standard input. It is published in ' +
    'batches of up to 1,000, each of which is taken as a whole or not at all. A run that was cut or ' +
    'refused can be repeated within 24 hours: batches that were taken are recognised by the lines up to ' +
    'their end and not published again. A file that has grown since is another one from its last batch ' +
    'on: publish what was added as a file of its own. To publish the same file once more, give another ' +
    '--idempotency-key.',
  positionals: {
    EVENT: 'the name of what happened: order.created',
    PAYLOAD: 'JSON, in quotes for the shell; "-" reads it from standard input',
  },
  flags: {
    message: { kind: 'text', placeholder: 'TEXT', says: 'the payload {"message": TEXT}' },
    file: { kind: 'text', placeholder: 'FILE', says: 'read the payload from a file' },
    batch: {
      kind: 'text',
      placeholder: 'FILE',
      says: 'publish a file of events, one in each line',
    },
    to: { kind: 'text', placeholder: 'SUB', says: 'only to this subscription, if it hears it' },
    wait: {
      kind: 'switch',
      says: 'wait until all deliveries have ended; fail if one of them is dead',
    },
    'idempotency-key': {
      kind: 'text',
      placeholder: 'TEXT',
      says: 'publish once, however often it is repeated with this text within 24 hours',
    },
    contract: {
      kind: 'text',
      placeholder: 'TITLE',
      says: 'the contract of the event, where several have one of this name',
    },
    ...connectFlags,
  },
  takesSettings: false,
  json: 'eventId and deliveries; with --wait also how many ended how; with --batch how many were published',
  examples: [
    {
      line: 'ringback publish order.created --message "Order 42 was placed"',
      says: 'what the service’s own contract wants',
    },
    {
      line: `ringback publish order.created '{"message": "Order 42", "total": 12.50}' --wait`,
      says: 'and see that everybody has it',
    },
    { line: 'ringback publish order.created --file order.json', says: 'from a file' },
    { line: 'ringback publish --batch orders.ndjson', says: 'many, safely repeatable' },
  ],
  exitCodes: { 130: 'left with Ctrl+C while waiting; deliveries go on' },
  run: async (call, terminal) => (await import('../publish.ts')).publish(call, terminal),
};
