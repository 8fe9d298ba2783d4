// Server-sent events as the body of an answer. Holds one piece at a time: the next is taken when
// the client has read the last, as far as the connection knows.
import { Readable } from 'node:stream';

export interface EventStream {
  body: Readable;
  isReady(): boolean;
  send(piece: Uint8Array): void;
  /** Ends after this piece. */
  end(piece: Uint8Array): void;
  /** Ends at once. */
  cut(): void;
  /** Sets the callbacks for "ready for more" and "closed". */
  attach(callbacks: { ready(): void; leave(): void }): void;
}

export function createEventStream(): EventStream {
  let isReady = true;
  let isOver = false;
  let callbacks: Parameters<EventStream['attach']>[0] | undefined;
  const body = new Readable({
    highWaterMark: 1,
    read: () => {
      if (isReady) return;
      isReady = true;
      callbacks?.ready();
    },
    destroy: (error, done) => {
      isReady = false;
      callbacks?.leave();
      done(error);
    },
  });
  const push = (piece: Uint8Array): void => {
    if (isOver || body.destroyed) return;
    isReady = false;
    body.push(piece);
  };
  return {
    body,
    isReady: () => isReady,
    send: push,
    end: (piece) => {
      push(piece);
      if (!isOver) body.push(null);
      isOver = true;
    },
    cut: () => body.destroy(),
    attach: (given) => {
      callbacks = given;
    },
  };
}

export interface SentEvent {
  event: string;
  id?: string;
  data: unknown;
}

/** JSON has no line breaks, so one data line is enough. */
export function eventBytes({ event, id, data }: SentEvent): Buffer {
  const lines = [
    `event: ${event}`,
    ...(id === undefined ? [] : [`id: ${id}`]),
    `data: ${JSON.stringify(data)}`,
  ];
  return Buffer.from(`${lines.join('\n')}\n\n`);
}

/** A comment. With an id it sends no event, but moves the position to resume from. */
export function commentBytes(comment: string, id: string | undefined): Buffer {
  return Buffer.from(`: ${comment}\n${id === undefined ? '' : `id: ${id}\n`}\n`);
}
