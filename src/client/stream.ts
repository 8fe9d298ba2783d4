// The stream of changes. It reconnects and resumes where it stopped for as long as it is read; it ends when the
// caller aborts it, and fails if the service rejects it permanently.
import { refusalOf, readText, unreadable } from './answer.ts';
import { fetchOnce, requestOf, unreached, type Request } from './caller.ts';
import { patience, type CallOptions, type Connection } from './connection.ts';
import type { Delivery, Replay } from './contract/delivery.ts';
import { operations } from './contract/operations.ts';
import type { StatsCounts } from './contract/service.ts';
import { createEnding, type Ending } from './ending.ts';
import { quote, RingbackError, UnreachableError } from './failure.ts';
import { clientLimits } from './limits.ts';
import { mayPass } from './retry.ts';

/** Counts since the previous frame. */
export interface Changes {
  at: string;
  counts: Pick<StatsCounts, 'published' | 'delivered' | 'retried' | 'dead' | 'cancelled'>;
  /** Deliveries that are due or running now. */
  pending: number;
  /** The most recently changed ones, at most 20, latest change last. */
  deliveries: readonly Delivery[];
  /** Number of further changes. */
  more: number;
  /** Ids of changed subscriptions, at most 20. */
  subscriptions: readonly string[];
  replays: readonly Replay[];
  /** Changes may have been missed: read the lists again. */
  isReset: boolean;
}

export interface Frame extends Changes {
  /** Pass it to a later `stream` to continue after this frame (within two minutes). */
  lastEventId: string | undefined;
}

export interface StreamOptions extends CallOptions {
  /** The `id` of the last frame of an earlier stream. */
  lastEventId?: string | undefined;
}

interface StreamState {
  lastEventId: string | undefined;
  /** How long the service asks clients to wait before reconnecting. */
  againMs: number;
  /** Consecutive failures, without receiving anything in between. */
  failures: number;
  /** The delay that the last error response asked for. */
  retryAfterMs: number;
  wasOpen: boolean;
}

/**
 * An endless sequence of frames: aborting a signal ends the loop that reads them. A stream that never opened
 * fails after `retries`; one that was open is reopened for as long as the caller reads it.
 */
export async function* stream(
  connection: Connection,
  options: StreamOptions = {},
): AsyncGenerator<Frame, void, undefined> {
  const { retries } = patience(options, connection);
  const { platform } = connection;
  const life = createEnding([connection.signal, options.signal]);
  const state: StreamState = {
    lastEventId: options.lastEventId,
    againMs: clientLimits.streamAgainMs,
    failures: 0,
    retryAfterMs: 0,
    wasOpen: false,
  };
  try {
    while (!life.signal.aborted) {
      try {
        yield* frames(connection, state, { ...options, signal: life.signal });
      } catch (error) {
        if (life.signal.aborted) return;
        const isFinal = error instanceof RingbackError ? !mayPass(error) : !isUnreached(error);
        if (isFinal || (!state.wasOpen && state.failures >= retries)) throw error;
        state.retryAfterMs =
          (error instanceof RingbackError ? (error.retryAfterS ?? 0) : 0) * 1_000;
      }
      state.failures += 1;
      await life.race(platform.sleep(waitMs(state, platform.random()), life.signal));
    }
  } catch (error) {
    if (!life.signal.aborted) throw error;
  } finally {
    life.over();
  }
}

function isUnreached(error: unknown): boolean {
  return error instanceof UnreachableError;
}

/** The delay the service asks for; it grows with each consecutive failure. */
function waitMs({ againMs, failures, retryAfterMs }: StreamState, random: number): number {
  const { streamAgainMsMin, streamAgainMsMax, retryAfterMsMax } = clientLimits;
  const grown = Math.max(streamAgainMsMin, againMs) * 2 ** Math.min(failures - 1, 10);
  const asked = Math.min(retryAfterMs, retryAfterMsMax);
  return Math.max(asked, Math.min(streamAgainMsMax, grown) * (0.5 + random / 2));
}

/** State of one connection. */
async function* frames(
  connection: Connection,
  state: StreamState,
  options: StreamOptions,
): AsyncGenerator<Frame, void, undefined> {
  const { timeoutMs } = patience(options, connection);
  const { sleep } = connection.platform;
  const request = streamRequest(connection, state.lastEventId);
  const ending = createEnding([options.signal]);
  try {
    ending.within(timeoutMs, sleep);
    const response = await open(connection, request, ending);
    state.wasOpen = true;
    state.retryAfterMs = 0;
    for await (const sent of sentEvents(connection, { response, request, ending })) {
      state.failures = 0;
      state.lastEventId = idOf(sent) ?? state.lastEventId;
      state.againMs = sent.retryMs ?? state.againMs;
      if (sent.event === 'bye') return;
      if (sent.event !== 'changes' || sent.data === undefined) continue;
      ending.untimed(); // While the caller handles a frame, silence means nothing.
      const changes = readChanges(sent.data);
      if (changes === undefined) {
        const detail = 'a frame of the stream is not valid JSON';
        throw unreadable(connection, { action: request.action, response, detail });
      }
      yield { ...changes, lastEventId: state.lastEventId };
    }
  } finally {
    ending.over();
  }
}

function streamRequest(connection: Connection, lastEventId: string | undefined): Request {
  const request = requestOf(connection, operations.openStream, {});
  if (lastEventId === undefined) return request;
  return { ...request, headers: { ...request.headers, 'last-event-id': lastEventId } };
}

async function open(connection: Connection, request: Request, ending: Ending): Promise<Response> {
  const { action } = request;
  try {
    const response = await fetchOnce(connection, request, ending);
    const text = response.ok ? '' : ((await ending.race(readText(response))) ?? '');
    const refusal = refusalOf(response, { action, text, connection });
    if (refusal !== undefined) throw refusal;
    const type = response.headers.get('content-type') ?? '';
    if (type.startsWith('text/event-stream')) return response;
    await response.body?.cancel().catch(() => undefined);
    const detail = `its type is "${quote(type)}", expected text/event-stream`;
    throw unreadable(connection, { action, response, detail });
  } catch (error) {
    if (error instanceof RingbackError) throw error;
    throw unreached(connection, request, { error, ending });
  }
}

interface Opened {
  response: Response;
  request: Request;
  ending: Ending;
}

/** Ends when the connection ends, however it ends: that is not a failure of the stream. */
async function* sentEvents(
  connection: Connection,
  { response, request, ending }: Opened,
): AsyncGenerator<SentEvent, void, undefined> {
  if (response.body === null) return;
  const reader = response.body.getReader();
  const events = createSentEvents();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      ending.within(clientLimits.streamSilenceMs, connection.platform.sleep);
      const { done, value } = await ending.race(reader.read());
      if (done) return;
      yield* events.push(decoder.decode(value, { stream: true }));
    }
  } catch (error) {
    if (error instanceof RangeError) {
      const { action } = request;
      throw unreadable(connection, { action, response, detail: error.message });
    }
    throw unreached(connection, request, { error, ending });
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

/** Undefined for an id that a header cannot carry. */
function idOf({ id }: SentEvent): string | undefined {
  if (id === undefined || id.length > clientLimits.lastEventIdCharsMax) return undefined;
  return /^[\x21-\x7e]+$/.test(id) ? id : undefined;
}

function readChanges(data: string): Changes | undefined {
  try {
    const changes: Changes = JSON.parse(data);
    return changes;
  } catch {
    return undefined;
  }
}

// Parses server-sent events from text in arbitrary chunks, as defined by the HTML standard. Pure.

export interface SentEvent {
  event: string;
  /** Lines of `data`, joined. Undefined if there were none: then only `id` and `retryMs` count. */
  data: string | undefined;
  /** Set if it was present. */
  id: string | undefined;
  retryMs: number | undefined;
}

interface SentEvents {
  /** The events that end in this chunk. */
  push(piece: string): SentEvent[];
}

export function createSentEvents(): SentEvents {
  let rest = '';
  /** There is no line break before this position. */
  let searched = 0;
  /** The last chunk ended with a carriage return: its line feed may start the next one. */
  let isReturned = false;
  let block: string[] = [];
  let blockChars = 0;

  const endOfLine = /\r\n|\n|\r/g;
  const push = (piece: string): SentEvent[] => {
    rest += isReturned && piece.startsWith('\n') ? piece.slice(1) : piece;
    if (piece !== '') isReturned = piece.endsWith('\r');
    const events: SentEvent[] = [];
    let begin = 0;
    endOfLine.lastIndex = searched;
    for (let end = endOfLine.exec(rest); end !== null; end = endOfLine.exec(rest)) {
      const line = rest.slice(begin, end.index);
      begin = endOfLine.lastIndex;
      if (line !== '') {
        block.push(line);
        blockChars += line.length;
        continue;
      }
      if (block.length > 0) events.push(readBlock(block));
      block = [];
      blockChars = 0;
    }
    rest = rest.slice(begin);
    searched = rest.length;
    if (rest.length + blockChars > clientLimits.sentEventCharsMax) {
      throw new RangeError(
        `an event of the stream is longer than ${clientLimits.sentEventCharsMax} characters`,
      );
    }
    return events;
  };
  return { push };
}

function readBlock(lines: readonly string[]): SentEvent {
  const data: string[] = [];
  const read: SentEvent = { event: 'message', data: undefined, id: undefined, retryMs: undefined };
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'data') data.push(value);
    if (name === 'event' && value !== '') read.event = value;
    if (name === 'id' && !value.includes('\0')) read.id = value;
    if (name === 'retry' && /^\d{1,9}$/.test(value)) read.retryMs = Number(value);
  }
  if (data.length > 0) read.data = data.join('\n');
  return read;
}
