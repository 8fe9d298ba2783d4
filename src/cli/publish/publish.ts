// `ringback publish`: publishes an event. The payload is sent as given, byte for byte.
import type { Accepted, CallOptions, Client, SkippedCallbacks } from '../../client/client.ts';
import { readOpaqueJson } from '../../core/base/json.ts';
import { limits } from '../../core/limits/limits.ts';
import type { Invocation } from '../declare/command.ts';
import { pollUntil } from '../service/poll.ts';
import { json, viewOf } from '../service/view.ts';
import { withService } from '../service/with-service.ts';
import { calledWrongly, CliFailure } from '../terminal/failure.ts';
import { startProgress } from '../terminal/progress.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { addressing, publishBatches } from './batches.ts';
import { readAll, sourceOf } from '../service/text-source.ts';

export async function publish(call: Invocation, terminal: Terminal): Promise<void> {
  if (call.text('batch') !== undefined) return publishBatches(call, terminal);
  const [event, ...more] = call.positionals;
  if (event === undefined) throw calledWrongly('Cannot publish: no event name given');
  const payloadText = await readPayload(call, terminal, more);
  const subject = call.text('subject');
  const customer = call.text('customer');
  const idempotencyKey = call.text('idempotency-key');
  const input = {
    event,
    payloadText,
    ...(subject === undefined ? {} : { subject }),
    ...(customer === undefined ? {} : { customer }),
    ...addressing(call),
  };
  await withService(call, async ({ client }) => {
    const accepted = await client.publish(
      input,
      idempotencyKey === undefined ? {} : { idempotencyKey },
    );
    if (!call.isJson) terminal.out(acceptedText(event, accepted));
    if (!call.isOn('wait')) return call.isJson ? terminal.out(json(accepted)) : undefined;
    const ended = await waitForDeliveries({ client, terminal }, accepted).catch(
      (error: unknown) => {
        // The event was accepted even if the wait for its end fails.
        if (call.isJson) terminal.out(json({ ...accepted, ended: null }));
        throw error;
      },
    );
    if (call.isJson) terminal.out(json({ ...accepted, ended }));
    else terminal.out(endedText(viewOf(terminal).paint, ended));
    if (ended.dead > 0) throw deadFailure(accepted, ended);
  });
}

/** Exactly one of an argument, --message, --file, and standard input. */
async function readPayload(
  call: Invocation,
  terminal: Terminal,
  [argument, ...more]: readonly string[],
): Promise<string> {
  const [message, file] = [call.text('message'), call.text('file')];
  const given = [argument, message, file].filter((one) => one !== undefined);
  if (more.length > 0) {
    throw calledWrongly('Cannot publish several payloads: expected one, in quotes');
  }
  if (given.length > 1) {
    throw calledWrongly('Cannot combine payloads: give only one of PAYLOAD, --message and --file');
  }
  if (message !== undefined) return JSON.stringify({ message });
  if (argument !== undefined && argument !== '-') return checked('PAYLOAD', Buffer.from(argument));
  const from = argument ?? file;
  if (from === undefined) {
    throw calledWrongly(
      'Cannot publish: no payload. Give PAYLOAD, --message TEXT, --file FILE, or - for ' +
        'standard input',
    );
  }
  const bytes = await readAll(sourceOf(from, terminal), limits.inputBytesMax);
  return checked(from === '-' ? 'standard input' : `"${from}"`, bytes);
}

/** Checked here for a better message: shells often remove the quotes of JSON. */
function checked(where: string, bytes: Uint8Array): string {
  const reading = readOpaqueJson(bytes);
  if (reading.kind === 'value') return Buffer.from(bytes).toString().trim();
  throw new CliFailure(
    `Cannot publish ${where}: ${reading.message}, expected JSON such as '{"message": "Order 42"}'`,
    { exitCode: where === 'PAYLOAD' ? 2 : 1 },
  );
}

function acceptedText(event: string, accepted: Accepted): string {
  const { eventId, warnings, skippedCallbacks } = accepted;
  const lines = (warnings ?? []).map(({ field, message }) => `  ${field}: ${message}`);
  const notes =
    lines.length === 0
      ? []
      : [
          'The payload violates the contract; the service accepted it because it runs with ' +
            '--lenient:',
          ...lines,
        ];
  return [
    `Published ${event} as ${eventId}: ${describeFanOut(event, accepted)}`,
    ...notes,
    ...(skippedCallbacks === undefined
      ? []
      : [`Skipped, because the payload does not match ${theirSchema(skippedCallbacks)}:`]),
    ...describeSkipped(skippedCallbacks).map((skipped) => `  ${skipped}`),
    '',
  ].join('\n');
}

function theirSchema({ count }: SkippedCallbacks): string {
  return count === 1 ? 'the schema of this callback' : `the schemas of these ${count} callbacks`;
}

/** A line for each of the first callbacks, and one for the rest. */
export function describeSkipped(skipped: SkippedCallbacks | undefined): string[] {
  if (skipped === undefined) return [];
  const { count, first } = skipped;
  const lines = first.map(
    ({ operationId, callback, reason }) => `${callback} (${operationId}): ${reason}`,
  );
  return count > first.length ? [...lines, `and ${count - first.length} more`] : lines;
}

function describeFanOut(
  event: string,
  { deliveries, skippedCallbacks }: Pick<Accepted, 'deliveries' | 'skippedCallbacks'>,
): string {
  if (deliveries === null)
    return 'more matching subscriptions than are counted at once; deliveries are being created.';
  if (deliveries === 0 && skippedCallbacks !== undefined) {
    return 'no subscription has a callback that matches the event and accepts the payload.';
  }
  if (deliveries === 0) {
    return `no subscription matches. Subscribe first: ringback subscribe URL --event ${event}`;
  }
  return deliveries === 1 ? '1 delivery pending.' : `${deliveries} deliveries pending.`;
}

function endedText(paint: ReturnType<typeof viewOf>['paint'], ended: Ended): string {
  const parts = [
    ended.delivered > 0 ? paint('green', `${ended.delivered} delivered`) : '',
    ended.dead > 0 ? paint('red', `${ended.dead} dead`) : '',
    ended.cancelled > 0 ? `${ended.cancelled} cancelled` : '',
  ].filter((part) => part !== '');
  return parts.length === 0
    ? 'Nothing was sent.\n'
    : `All deliveries ended: ${parts.join(', ')}.\n`;
}

function deadFailure({ eventId }: Accepted, { dead }: Ended): CliFailure {
  const what = dead === 1 ? 'a delivery was' : `${dead} deliveries were`;
  return new CliFailure(
    `Cannot deliver ${eventId} to all subscribers: ${what} dead-lettered. See why:\n` +
      `  ringback deliveries --event-id ${eventId} --state dead`,
  );
}

// Waits until all deliveries of an event have ended, polling at growing intervals. Each poll reads
// a bounded page, however many receivers there are.

interface Ended {
  delivered: number;
  dead: number;
  cancelled: number;
}

async function waitForDeliveries(
  { client, terminal }: { client: Client; terminal: Terminal },
  { eventId, deliveries }: Pick<Accepted, 'eventId' | 'deliveries'>,
): Promise<Ended> {
  using progress = startProgress('Delivering', terminal);
  let total = deliveries;
  return await pollUntil(terminal, {
    ask: async (signal) => {
      const options = { ...patient, signal };
      total ??= (await client.events.get(eventId, options)).deliveries;
      const pending = await client.deliveries
        .list({ eventId, state: 'pending', limit: limits.pageItemsMax }, options)
        .page();
      const isAllKnown = total !== null && pending.nextCursor === null;
      const waiting = pending.items.length;
      if (isAllKnown && waiting === 0) return countEnded(client, eventId, options);
      const done = Math.max(0, (total ?? waiting) - waiting);
      progress.show({ done, total: isAllKnown ? (total ?? undefined) : undefined });
      return undefined;
    },
    left: () =>
      new CliFailure(
        `Stopped waiting; delivery of ${eventId} continues. Check on it:\n` +
          `  ringback deliveries --event-id ${eventId}`,
        { exitCode: 130 },
      ),
  });
}

/** The service has answered before, so short outages are waited out. */
const patient = { retries: limits.longRetries };

async function countEnded(client: Client, eventId: string, options: CallOptions): Promise<Ended> {
  const ended = { delivered: 0, dead: 0, cancelled: 0 };
  for await (const { state } of client.deliveries.list(
    { eventId, limit: limits.pageItemsMax },
    options,
  )) {
    if (state !== 'due' && state !== 'running') ended[state] += 1;
  }
  return ended;
}
