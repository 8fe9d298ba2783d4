// A client of the live view: reads server-sent events from a real socket, one by one.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';

export interface SentEvent {
  event: string;
  id: string | undefined;
  data: FrameView;
}

export interface FrameView {
  at: string;
  counts: Record<'published' | 'delivered' | 'retried' | 'dead' | 'cancelled', number>;
  pending: number;
  deliveries: Record<string, unknown>[];
  more: number;
  subscriptions: string[];
  replays: Record<string, unknown>[];
  isReset: boolean;
}

export interface StreamClient extends Disposable {
  response: IncomingMessage;
  /** The next event, which may have arrived already. */
  next(): Promise<SentEvent>;
  /** Reads until an event matches; returns all events read, including that one. */
  until(isIt: (event: SentEvent) => boolean): Promise<SentEvent[]>;
  /** Everything received so far, including comments. */
  text(): string;
  /** Resolves when the server has ended the stream. */
  ended: Promise<void>;
}

export interface StreamOptions {
  key: string;
  lastEventId?: string;
  /** Does not read from the socket. */
  isDeaf?: boolean;
}

export async function openStream(url: string, options: StreamOptions): Promise<StreamClient> {
  const { key, lastEventId, isDeaf = false } = options;
  const sent = request(`${url}/stream`, {
    agent: false,
    headers: {
      'x-api-key': key,
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    },
  });
  sent.end();
  const [answer] = await once(sent, 'response');
  const response: IncomingMessage = answer;
  assert.equal(response.statusCode, 200);
  sent.on('error', () => undefined); // Caused by destroying the request.
  response.on('error', () => undefined);
  let text = '';
  let taken = 0;
  let wake = (): void => undefined;
  if (!isDeaf) {
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => {
      text += chunk;
      wake();
    });
  }
  const ended = new Promise<void>((resolve) => response.on('close', resolve));
  const next = async (): Promise<SentEvent> => {
    for (;;) {
      const block = /[^]*?\n\n/.exec(text.slice(taken))?.[0];
      if (block !== undefined) {
        taken += block.length;
        const event = parse(block);
        if (event !== undefined) return event;
        continue;
      }
      assert(!response.closed, `The stream has ended: ${text}`);
      const more = new Promise<void>((resolve) => (wake = resolve));
      await Promise.race([more, ended]);
    }
  };
  return {
    response,
    next,
    until: async (isIt) => {
      const events: SentEvent[] = [];
      for (;;) {
        const event = await next();
        events.push(event);
        if (isIt(event)) return events;
      }
    },
    text: () => text,
    ended,
    [Symbol.dispose]: () => sent.destroy(),
  };
}

/** Undefined for a comment. */
function parse(block: string): SentEvent | undefined {
  const fields = new Map(
    block
      .trimEnd()
      .split('\n')
      .filter((line) => !line.startsWith(':'))
      .map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)]),
  );
  const event = fields.get('event');
  if (event === undefined) return undefined;
  const data = JSON.parse(fields.get('data') ?? '') as FrameView;
  return { event, id: fields.get('id'), data };
}

/** The sum of a count over all frames. */
export function sumOf(events: readonly SentEvent[], count: keyof FrameView['counts']): number {
  return events
    .filter(({ event }) => event === 'changes')
    .reduce((sum, { data }) => sum + data.counts[count], 0);
}
