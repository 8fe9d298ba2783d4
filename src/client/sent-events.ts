// Parses server-sent events from text in arbitrary chunks, as defined by the HTML standard. Pure.
import { clientLimits } from './limits.ts';

export interface SentEvent {
  event: string;
  /** Lines of `data`, joined. Undefined if there were none: then only `id` and `retryMs` count. */
  data: string | undefined;
  /** Set if it was present. */
  id: string | undefined;
  retryMs: number | undefined;
}

export interface SentEvents {
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
