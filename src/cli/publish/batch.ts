// Groups lines of NDJSON into batches, each with an idempotency key that covers all lines up to its
// end. So an interrupted run can be repeated: published batches are recognized, batches after a
// corrected line are new, and two equal batches of one file stay distinct.
import { createHash } from 'node:crypto';
import { readJson } from '../../core/base/json.ts';
import { limits } from '../../core/limits/limits.ts';
import { CliFailure } from '../terminal/failure.ts';

export interface BatchLine {
  /** From 1, as editors count. */
  line: number;
  event: string;
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
    chain = digest(chain + JSON.stringify(lines.map((one) => [one.event, one.payloadText])));
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
export async function* eventLines(source: AsyncIterable<Uint8Array>): AsyncGenerator<BatchLine> {
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
  const stranger = Object.keys(members).find((name) => name !== 'event' && name !== 'payload');
  if (stranger !== undefined) throw wrong(`it has the unknown member "${stranger}"`);
  const { event } = members;
  const payload = reading.opaque.get('/payload');
  if (typeof event !== 'string') throw wrong('"event" is missing or not a string');
  if (payload === undefined) throw wrong('"payload" is missing');
  return { line, event, payloadText: Buffer.from(payload).toString() };
}

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

function bytesOf({ event, payloadText }: BatchLine): number {
  return Buffer.byteLength(payloadText) + Buffer.byteLength(event) + wrappingBytes;
}

const newline = 0x0a;
/** `{"event":"","payload":},` */
const wrappingBytes = 32;

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 40);
}
