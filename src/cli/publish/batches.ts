// `ringback publish --batch`: publishes a file of events, batch by batch. A file is parsed
// completely first, so that an invalid line is found before anything is sent. A refused batch is
// reported by the lines of the file.
import { RingbackError, type Client } from '../../client/client.ts';
import { limits } from '../../core/limits/limits.ts';
import type { Invocation } from '../declare/command.ts';
import { calledWrongly, CliFailure } from '../terminal/failure.ts';
import { expectId } from '../service/id-kind.ts';
import { startProgress } from '../terminal/progress.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { json } from '../service/view.ts';
import { explained, withService } from '../service/with-service.ts';
import { batchesOf, eventLines, type Batch } from './batch.ts';
import { sourceOf } from './source.ts';

export async function publishBatches(call: Invocation, terminal: Terminal): Promise<void> {
  const name = call.text('batch') ?? '-';
  refuseOthers(call);
  const to = call.text('to');
  if (to !== undefined) expectId('sub', to, 'publish to');
  const contract = call.text('contract');
  const total = name === '-' ? undefined : await countLines(name, terminal);
  const seed = [to ?? '', contract ?? '', call.text('idempotency-key') ?? ''];
  const more = {
    ...(to === undefined ? {} : { subscriberId: to }),
    ...(contract === undefined ? {} : { contract }),
  };
  const tally: Tally = { published: 0, deliveries: 0, batches: 0 };
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
  const { published, deliveries, batches } = tally;
  if (published === 0) return terminal.err('The file contains no events: nothing was published.\n');
  terminal.out(
    `Published ${counted(published, 'event')} in ${counted(batches, 'batch')}: ` +
      `${counted(deliveries, 'delivery')} pending.\n`,
  );
}

interface Tally {
  published: number;
  /** Without events whose many deliveries are not counted at once. */
  deliveries: number;
  batches: number;
}

async function send(
  client: Client,
  { lines, idempotencyKey }: Batch,
  more: { subscriberId?: string; contract?: string },
  tally: Tally,
): Promise<void> {
  const events = lines.map(({ event, payloadText }) => ({ event, payloadText }));
  const { items } = await client.publishBatch(events, {
    ...more,
    idempotencyKey,
    retries: tally.batches === 0 ? limits.callRetries : limits.longRetries,
  });
  tally.published += items.length;
  tally.batches += 1;
  for (const { deliveries } of items) tally.deliveries += deliveries ?? 0;
}

function refuseOthers(call: Invocation): void {
  const others = ['message', 'file'].filter((flag) => call.text(flag) !== undefined);
  const isBeside = call.positionals.length > 0 || others.length > 0 || call.isOn('wait');
  if (!isBeside) return;
  throw calledWrongly('Cannot combine --batch with EVENT, PAYLOAD, --message, --file or --wait');
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
