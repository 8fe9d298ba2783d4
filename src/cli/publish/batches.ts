// `ringback publish --batch`: publishes a file of events, batch by batch. A file is parsed
// completely first, so that an invalid line is found before anything is sent. A refused batch is
// reported by the lines of the file.
import { createHash } from 'node:crypto';
import { RingbackError, type Addressing, type Client } from '../../client/client.ts';
import { readJson } from '../../core/base/json.ts';
import { limits } from '../../core/limits/limits.ts';
import type { Invocation } from '../declare/command.ts';
import { expectId } from '../service/id-kind.ts';
import { json } from '../service/view.ts';
import { explained, withService } from '../service/with-service.ts';
import { calledWrongly, CliFailure } from '../terminal/failure.ts';
import { startProgress } from '../terminal/progress.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { sourceOf } from '../service/text-source.ts';

export async function publishBatches(call: Invocation, terminal: Terminal): Promise<void> {
  const name = call.text('batch') ?? '-';
  refuseOthers(call);
  const more = addressing(call);
  const { subscriberId = '', contract = '', audience } = more;
  const total = name === '-' ? undefined : await countLines(name, terminal);
  const seed = [subscriberId, contract, call.text('idempotency-key') ?? '', audience ?? []].flat();
  const tally: Tally = { published: 0, deliveries: 0, batches: 0, withSkippedCallbacks: 0 };
  await withService(call, async ({ client, url }) => {
    using progress = startProgress('Publishing', terminal);
    progress.show({ done: 0, total });
    for await (const batch of batchesOf(sourceOf(name, terminal), seed)) {
      await send(client, batch, more, tally).catch((error: unknown) => {
        throw refused(error, { batch, tally, url });
      });
      progress.show({ done: tally.published, total });
    }
  });
  if (call.isJson) return terminal.out(json(tally));
  const { published, deliveries, batches, withSkippedCallbacks } = tally;
  if (published === 0) return terminal.err('The file contains no events: nothing was published.\n');
  terminal.out(
    `Published ${counted(published, 'event')} in ${counted(batches, 'batch')}: ` +
      `${counted(deliveries, 'delivery')} pending.\n`,
  );
  if (withSkippedCallbacks === 0) return;
  terminal.out(
    `${counted(withSkippedCallbacks, 'event')} skipped callbacks whose schemas do not accept the ` +
      'payload. See which: ringback events EVT\n',
  );
}

interface Tally {
  published: number;
  /** Without events whose many deliveries are not counted at once. */
  deliveries: number;
  batches: number;
  /** Events whose payloads some callbacks do not accept. */
  withSkippedCallbacks: number;
}

async function send(
  client: Client,
  { lines, idempotencyKey }: Batch,
  more: Addressing,
  tally: Tally,
): Promise<void> {
  const events = lines.map(({ line: _line, ...event }) => event);
  const { items } = await client.publishBatch(events, {
    ...more,
    idempotencyKey,
    retries: tally.batches === 0 ? limits.callRetries : limits.longRetries,
  });
  tally.published += items.length;
  tally.batches += 1;
  for (const { deliveries, skippedCallbacks } of items) {
    tally.deliveries += deliveries ?? 0;
    tally.withSkippedCallbacks += skippedCallbacks === undefined ? 0 : 1;
  }
}

function refuseOthers(call: Invocation): void {
  const others = ['message', 'file', 'subject', 'customer'].filter(
    (flag) => call.text(flag) !== undefined,
  );
  const isBeside = call.positionals.length > 0 || others.length > 0 || call.isOn('wait');
  if (!isBeside) return;
  throw calledWrongly(
    'Cannot combine --batch with EVENT, PAYLOAD, --message, --file, --subject, --customer or --wait',
  );
}

/** Who receives the events, as one publish or a whole batch names it. */
export function addressing(call: Invocation): Addressing {
  const [subscriberId, contract] = [call.text('to'), call.text('contract')];
  if (subscriberId !== undefined) expectId('sub', subscriberId, 'publish to');
  return {
    ...(call.text('audience') === undefined ? {} : { audience: 'all' as const }),
    ...(subscriberId === undefined ? {} : { subscriberId }),
    ...(contract === undefined ? {} : { contract }),
  };
}

async function countLines(path: string, terminal: Terminal): Promise<number> {
  let lines = 0;
  for await (const _line of eventLines(sourceOf(path, terminal))) lines += 1;
  return lines;
}

/** Translates positions in the batch into lines of the file. */
function refused(
  error: unknown,
  { batch, tally, url }: { batch: Batch; tally: Tally; url: string },
): unknown {
  const [first, last] = [batch.lines[0]?.line ?? 0, batch.lines.at(-1)?.line ?? 0];
  const faults = error instanceof RingbackError ? (error.problem?.errors ?? []) : [];
  const reasons = faults.flatMap(({ field, message }) => {
    const [, at = '', rest = ''] = /^body#\/events\/(\d+)(.*)$/.exec(field) ?? [];
    const line = batch.lines[Number(at)]?.line;
    return at === '' || line === undefined
      ? []
      : [`  line ${line}${rest === '' ? '' : ` ${rest}`}: ${message}`];
  });
  const why = explained(error, url);
  if (!(why instanceof CliFailure)) return why;
  const shown = reasons.slice(0, reasonsShownMax);
  const hidden = reasons.length - shown.length;
  const text = [
    `Cannot publish lines ${first} to ${last}: ${isCertain(error) ? 'none of them was accepted' : 'they may or may not have been accepted'}.`,
    ...(shown.length === 0 ? [why.message] : shown),
    ...(hidden > 0 ? [`  and ${hidden} more`] : []),
    `${counted(tally.published, 'event')} before them ` +
      `${tally.published === 1 ? 'was' : 'were'} published. Fix the cause and run the same ` +
      'command again: no event is published twice.',
  ].join('\n');
  const { code, status } = why;
  return new CliFailure(text, { cause: error, code, status });
}

/**
 * Whether nothing was published: certain after a refusal, but not after a timeout or a failure
 * behind the service.
 */
function isCertain(error: unknown): boolean {
  return error instanceof RingbackError && (error.status < 500 || error.code === 'overloaded');
}

const reasonsShownMax = 10;

function counted(count: number, noun: string): string {
  const plural = noun.endsWith('y')
    ? `${noun.slice(0, -1)}ies`
    : noun.endsWith('h')
      ? `${noun}es`
      : `${noun}s`;
  return `${count.toLocaleString('en')} ${count === 1 ? noun : plural}`;
}

// Groups lines of NDJSON into batches, each with an idempotency key that covers all lines up to its
// end. So an interrupted run can be repeated: published batches are recognized, batches after a
// corrected line are new, and two equal batches of one file stay distinct.

interface BatchLine {
  /** From 1, as editors count. */
  line: number;
  event: string;
  subject?: string;
  customer?: string;
  /** As in the line, byte for byte. */
  payloadText: string;
}

export interface Batch {
  lines: readonly BatchLine[];
  idempotencyKey: string;
}

/** `seed`: what else the calls depend on, which is the addressee and the name of the run. */
export async function* batchesOf(
  source: AsyncIterable<Uint8Array>,
  seed: readonly string[],
): AsyncGenerator<Batch> {
  let chain = digest(JSON.stringify(seed));
  const close = (lines: readonly BatchLine[]): Batch => {
    const texts = lines.map(({ event, payloadText, subject, customer }) =>
      [event, payloadText, subject ?? [], customer === undefined ? [] : { customer }].flat(),
    );
    chain = digest(chain + JSON.stringify(texts));
    return { lines, idempotencyKey: `ringback-batch-${chain}` };
  };
  let open: BatchLine[] = [];
  let bytes = 0;
  for await (const line of eventLines(source)) {
    const more = bytesOf(line);
    const isFull = open.length >= limits.batchEventsMax || bytes + more > limits.batchBytesMax;
    if (isFull && open.length > 0) {
      yield close(open);
      open = [];
      bytes = 0;
    }
    open.push(line);
    bytes += more;
  }
  if (open.length > 0) yield close(open);
}

/** Empty lines are skipped, but counted. */
async function* eventLines(source: AsyncIterable<Uint8Array>): AsyncGenerator<BatchLine> {
  let number = 0;
  for await (const bytes of linesOf(source)) {
    number += 1;
    if (!isBlank(bytes)) yield readLine(bytes, number);
  }
}

function readLine(bytes: Uint8Array, line: number): BatchLine {
  const reading = readJson(bytes, 'payload');
  const wrong = (why: string): CliFailure =>
    new CliFailure(
      `Cannot publish line ${line}: ${why}, expected {"event": "order.created", "payload": {…}}`,
    );
  if (reading.kind === 'malformed') throw wrong(reading.message);
  const { value } = reading;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw wrong('it is not a JSON object');
  }
  const members: Readonly<Record<string, unknown>> = Object.fromEntries(Object.entries(value));
  const stranger = Object.keys(members).find((name) => !lineMembers.has(name));
  if (stranger !== undefined) throw wrong(`it has the unknown member "${stranger}"`);
  const { event, subject, customer } = members;
  const payload = reading.opaque.get('/payload');
  if (typeof event !== 'string') throw wrong('"event" is missing or not a string');
  if (payload === undefined) throw wrong('"payload" is missing');
  const known = { line, event, payloadText: Buffer.from(payload).toString() };
  if (!isOptionalText(subject)) throw wrong('"subject" is not a string');
  if (!isOptionalText(customer)) throw wrong('"customer" is not a string');
  return {
    ...known,
    ...(subject === undefined ? {} : { subject }),
    ...(customer === undefined ? {} : { customer }),
  };
}

function isOptionalText(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string';
}

const lineMembers: ReadonlySet<string> = new Set(['event', 'subject', 'customer', 'payload']);

async function* linesOf(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let rest: Uint8Array[] = [];
  let waiting = 0;
  for await (const chunk of source) {
    let from = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, from)) {
      yield Buffer.concat([...rest, chunk.subarray(from, end)]);
      rest = [];
      waiting = 0;
      from = end + 1;
    }
    rest.push(chunk.subarray(from));
    waiting += chunk.length - from;
    if (waiting > limits.inputBytesMax) {
      throw new CliFailure(
        `Cannot read a line longer than ${limits.inputBytesMax} bytes: expected one event per ` +
          'line',
      );
    }
  }
  if (waiting > 0) yield Buffer.concat(rest);
}

function isBlank(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}

function bytesOf({ event, subject = '', customer = '', payloadText }: BatchLine): number {
  return Buffer.byteLength(payloadText + event + subject + customer) + wrappingBytes;
}

const newline = 0x0a;
/** `{"event":"","subject":"","customer":"","payload":},` */
const wrappingBytes = 54;

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 40);
}
