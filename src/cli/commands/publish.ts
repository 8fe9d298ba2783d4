// Declares `ringback publish`, `event-types` and `types`; their implementation is loaded when they run.
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

export const eventTypes: Command = {
  name: 'event-types',
  group: 'events',
  summary: 'List, declare and delete event types',
  usage: [
    'ringback event-types',
    'ringback event-types put NAME --schema FILE [--example FILE] [--description TEXT]',
    'ringback event-types delete NAME',
  ],
  about:
    'An event type is a name with a JSON Schema. Events with this name must match it. Once an app ' +
    'has declared one, a publish whose name is one character away from a declared one is refused. ' +
    'Declaring a type again replaces it; its version rises when the schema changes.',
  positionals: { NAME: 'Name of the event, such as order.created' },
  flags: {
    schema: {
      kind: 'text',
      placeholder: 'FILE',
      says: 'JSON Schema of the payload; "-" reads standard input',
    },
    example: { kind: 'text', placeholder: 'FILE', says: 'A payload that matches it, as JSON' },
    description: { kind: 'text', placeholder: 'TEXT', says: 'Description, shown in lists' },
    deprecated: { kind: 'switch', says: 'Mark it as deprecated; it can still be published' },
    ...connectFlags,
  },
  takesSettings: false,
  json: 'items; put: the event type; delete: its name',
  examples: [
    { line: 'ringback event-types', says: 'List the events of contracts and of the app' },
    {
      line: 'ringback event-types put order.created --schema order.json',
      says: 'Declare an event type',
    },
    { line: 'ringback event-types delete order.created', says: 'Delete one' },
  ],
  run: async (call, terminal) =>
    (await import('../publish/event-types.ts')).eventTypes(call, terminal),
};

export const types: Command = {
  name: 'types',
  group: 'events',
  summary: 'Print event types as TypeScript, for the client library',
  usage: ['ringback types > events.ts', 'ringback types FILE… [--contract-root FOLDER]'],
  about:
    'Prints an interface that maps the name of each event to the type of its payload: those of a ' +
    'running service, or of OpenAPI documents. Use it as createClient<Events>(). Patterns are left out.',
  positionals: { FILE: 'OpenAPI document with callbacks or webhooks' },
  flags: {
    'contract-root': {
      kind: 'text',
      placeholder: 'FOLDER',
      says: 'Allow references into this folder, besides the folder of the document',
    },
    ...connectFlags,
  },
  takesSettings: false,
  json: 'types, as text',
  examples: [
    { line: 'ringback types > events.ts', says: 'Write the types of a running service' },
    { line: 'ringback types my-api.yaml', says: 'Print the types of a document' },
  ],
  run: async (call, terminal) => (await import('../publish/event-types.ts')).types(call, terminal),
};
