// Declares `ringback deliveries`, `events`, `retry` and `replay`; their implementation is loaded
// when they run.
import type { Command } from '../declare/command.ts';
import { connectFlags } from '../service/connect.ts';
import {
  deliveryFlags,
  deliveryStates,
  endedStates,
  listFlags,
  customerFlag,
  subjectFlag,
  timeFlags,
} from '../service/filter-flags.ts';

export const deliveries: Command = {
  name: 'deliveries',
  group: 'inspect',
  summary: 'List deliveries, or show one with its attempts',
  usage: [
    'ringback deliveries [--state STATE] [--event PATTERN] [--subject TEXT] [--customer TEXT] [--to SUB]',
    'ringback deliveries DLV',
    'ringback deliveries --watch',
  ],
  positionals: { DLV: 'Delivery to show, with the request and response of each attempt' },
  flags: {
    state: {
      kind: 'choice',
      placeholder: 'STATE',
      choices: deliveryStates,
      says: 'In this state; pending is due or running, retrying is pending after a failed attempt',
    },
    'event-id': { kind: 'text', placeholder: 'EVT', says: 'Of this event' },
    ...deliveryFlags,
    watch: { kind: 'switch', says: 'Follow changes as they happen; Ctrl+C ends it' },
    ...listFlags,
    ...connectFlags,
  },
  takesSettings: false,
  json:
    'items and nextCursor; with DLV, the delivery and its attempts; with --watch, one ' +
    'line per change',
  examples: [
    {
      line: 'ringback deliveries --state dead --since 1d',
      says: 'List what was dead-lettered since yesterday',
    },
    {
      line: 'ringback deliveries --subject job_17',
      says: 'List the deliveries of all events about one job',
    },
    {
      line: 'ringback deliveries --status 5xx',
      says: 'List deliveries whose last response was a server error',
    },
    {
      line: 'ringback deliveries dlv_01jc4t6v8m3q5r7w9x1y2z3a4b_0',
      says: 'Show one delivery and why it failed',
    },
    {
      line: `ringback deliveries --watch --event 'order.*'`,
      says: 'Follow deliveries of order events',
    },
  ],
  run: async (call, terminal) =>
    (await import('../deliveries/deliveries.ts')).deliveries(call, terminal),
};

export const events: Command = {
  name: 'events',
  group: 'inspect',
  summary: 'List events, or show one with its payload',
  usage: [
    'ringback events [--event PATTERN] [--subject TEXT] [--customer TEXT] [--since WHEN]',
    'ringback events EVT',
  ],
  positionals: { EVT: 'Event to show, with its payload and deliveries' },
  flags: {
    event: {
      kind: 'text',
      placeholder: 'PATTERN',
      says: 'With this name, or matching a pattern such as order.*',
    },
    subject: subjectFlag,
    customer: { ...customerFlag, says: 'Published to this customer, such as cus_1' },
    ...timeFlags,
    ...listFlags,
    ...connectFlags,
  },
  takesSettings: false,
  json: 'items and nextCursor; with EVT, the event with its payload exactly as published',
  examples: [
    { line: 'ringback events --since 1h', says: 'List events of the last hour' },
    {
      line: `ringback events --event 'order.*' --all --json`,
      says: 'Print all order events as JSON',
    },
    { line: 'ringback events evt_01jc4t6v8m3q5r7w9x1y2z3a4b', says: 'Show one event' },
  ],
  run: async (call, terminal) => (await import('../deliveries/events.ts')).events(call, terminal),
};

export const retry: Command = {
  name: 'retry',
  group: 'events',
  summary: 'Send the given deliveries again',
  usage: ['ringback retry DLV…', 'ringback retry -'],
  about:
    'A dead-lettered delivery becomes pending again, with its retry schedule restarted. A ' +
    'delivered or cancelled one gets a successor with the same webhook-id, so that ' +
    'receivers can recognize it. If one delivery cannot be sent again, the others still ' +
    'are. To select many by state, event or time, use ringback replay.',
  positionals: { DLV: 'Deliveries, as in dlv_…; "-" reads them from standard input' },
  flags: { ...connectFlags },
  takesSettings: false,
  json: 'items: the delivery, the id that is now pending, or an error',
  examples: [
    { line: 'ringback retry dlv_01jc4t6v8m3q5r7w9x1y2z3a4b_0', says: 'Resend one delivery' },
    {
      line: `ringback deliveries --state dead --json | jq -r '.items[].id' | ringback retry -`,
      says: 'Resend the deliveries of a list',
    },
  ],
  run: async (call, terminal) => (await import('../deliveries/retry.ts')).retry(call, terminal),
};

export const replay: Command = {
  name: 'replay',
  group: 'events',
  summary: 'Send many deliveries again, selected by state, event or time',
  usage: [
    'ringback replay [--state STATE] [--event PATTERN] [--to SUB] [--since WHEN] [--yes]',
    'ringback replay list',
    'ringback replay show RPL',
    'ringback replay cancel RPL',
  ],
  about:
    'Counts the matching deliveries, asks for confirmation and shows progress. The ' +
    'service runs the replay in the background and resumes it after a restart: Ctrl+C ' +
    'stops watching, not the replay. Each delivery is sent again once.',
  positionals: { RPL: 'Replay, as in rpl_…' },
  flags: {
    state: {
      kind: 'choice',
      placeholder: 'STATE',
      choices: endedStates,
      says: 'Deliveries that ended in this state; ended means any of them (dead)',
    },
    ...deliveryFlags,
    rate: {
      kind: 'count',
      placeholder: 'N',
      min: 1,
      max: 1_000,
      says: 'Send at most N deliveries per second (50)',
    },
    'dry-run': { kind: 'switch', says: 'Only count the matching deliveries' },
    yes: { kind: 'switch', says: 'Skip the confirmation' },
    'no-wait': { kind: 'switch', says: 'Do not wait for the replay to end' },
    ...listFlags,
    ...connectFlags,
  },
  takesSettings: false,
  json:
    'the replay, or null if nothing matches; with --dry-run, matched and isCapped; for ' +
    'list, items and nextCursor',
  examples: [
    { line: 'ringback replay --since 1d', says: 'Resend everything dead-lettered since yesterday' },
    {
      line: `ringback replay --event 'order.*' --status 5xx --rate 100 --yes`,
      says: 'Resend order events that receivers rejected, without confirmation',
    },
    {
      line: 'ringback replay --state delivered --since 1h --dry-run',
      says: 'Count without sending',
    },
    {
      line: 'ringback replay cancel rpl_01jc4t6v8m3q5r7w9x1y2z3a4b',
      says: 'Cancel a running replay',
    },
  ],
  exitCodes: { 130: 'Interrupted with Ctrl+C while waiting; the replay continues' },
  run: async (call, terminal) => (await import('../deliveries/replay.ts')).replay(call, terminal),
};
