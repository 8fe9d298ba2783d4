// The handler of the live view: changes in the caller's app as server-sent events.
import { limits } from '../../core/limits/limits.ts';
import { withPrefix } from '../../core/base/id.ts';
import type { Frame } from '../../engine/live/frame.ts';
import type { StreamHub } from '../../engine/live/stream.ts';
import type { Call, Handlers, Reply } from '../request/call.ts';
import { commentBytes, createEventStream, eventBytes } from '../request/event-stream.ts';
import * as fields from '../request/fields.ts';
import { showDelivery } from './deliveries.ts';
import { showReplay } from './replays.ts';

export function streamHandlers(hub: Pick<StreamHub, 'open'>): Handlers {
  return { openStream: async (call) => openStream(hub, call) };
}

async function openStream(hub: Pick<StreamHub, 'open'>, call: Call): Promise<Reply> {
  const { app, request, isStillAllowed } = call;
  const stream = createEventStream();
  const watcher = {
    isReady: () => stream.isReady(),
    take: (frame: Frame) => stream.send(bytesOf(frame)),
    isStillAllowed,
    keepAlive: (cursor: string | undefined) => stream.send(commentBytes('keep-alive', cursor)),
    sendGoodbye: () => stream.end(goodbye),
    destroy: () => stream.cut(),
  };
  const lastEventId = request.header.get('last-event-id');
  stream.attach(await hub.open(watcher, { appNo: app.no, lastEventId }));
  return {
    status: 200,
    // No proxy may buffer or transform it. The connection closes with the stream, because a stop
    // may end the stream and must not wait for an idle connection.
    headers: {
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
      connection: 'close',
    },
    mediaType: 'text/event-stream',
    body: stream.body,
  };
}

const goodbye = eventBytes({ event: 'bye', data: {} });

/** Serialized once for all clients. */
const written = new WeakMap<Frame, Buffer>();

function bytesOf(frame: Frame): Buffer {
  const known = written.get(frame);
  if (known !== undefined) return known;
  const retry = Buffer.from(`retry: ${limits.streamAgainMs}\n`);
  const event = eventBytes({ event: 'changes', id: frame.cursor, data: showFrame(frame) });
  const bytes = Buffer.concat([retry, event]);
  written.set(frame, bytes);
  return bytes;
}

function showFrame(frame: Frame): Record<string, unknown> {
  const { published, delivered, retried, dead, cancelled } = frame.counts;
  return {
    at: fields.time(frame.atMs),
    counts: { published, delivered, retried, dead, cancelled },
    pending: frame.pending,
    deliveries: frame.deliveries.map(showDelivery),
    more: frame.more,
    subscriptions: frame.subscriptions.map((id) => withPrefix('sub', id)),
    replays: frame.replays.map(showReplay),
    isReset: frame.isReset,
  };
}
