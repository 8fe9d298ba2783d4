// Serializes an answer as HTTP/1.1, with the headers of every answer.
import { strict as assert } from 'node:assert';
import { STATUS_CODES } from 'node:http';
import { limits } from '../../core/limits/limits.ts';
import type { World } from '../../core/base/world.ts';
import type { Reply } from '../request/call.ts';
import { answerHeaders } from '../server/server.ts';

export interface Printed {
  text: string;
  encoding: 'latin1' | 'utf8';
  bodyBytes: number;
}

export type PrintAnswer = (reply: Reply, about: { requestId: string; isLast: boolean }) => Printed;

const always = Object.entries(answerHeaders).map(([name, value]) => `${name}: ${value}\r\n`);
const [closes, stays] = [
  'connection: close\r\n',
  `connection: keep-alive\r\nkeep-alive: timeout=${limits.keepAliveTimeoutMs / 1000}\r\n`,
];
/** Characters that a header value may hold; any other could end the header. */
const plainValue = /^[\t -~]*$/;

export function createPrintAnswer(world: Pick<World, 'nowMs'>): PrintAnswer {
  const dateOf = createDates();
  return ({ status, headers = {}, body, mediaType }, { requestId, isLast }) => {
    const text = mediaType === undefined ? JSON.stringify(body) : body;
    assert(typeof text === 'string', 'An answer that is printed has a text');
    const bodyBytes = Buffer.byteLength(text);
    let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${always.join('')}`;
    for (const name in headers) {
      const value = headers[name] ?? '';
      assert(plainValue.test(value), `The header ${name} can be printed`);
      head += `${name}: ${value}\r\n`;
    }
    const type = `${mediaType ?? 'application/json'}; charset=utf-8`;
    head += `x-request-id: ${requestId}\r\ncontent-type: ${type}\r\ncontent-length: ${bodyBytes}\r\n`;
    head += `date: ${dateOf(world.nowMs())}\r\n${isLast ? closes : stays}\r\n`;
    return {
      text: head + text,
      encoding: bodyBytes === text.length ? 'latin1' : 'utf8',
      bodyBytes,
    };
  };
}

/** The Date header, cached for a second. */
function createDates(): (nowMs: number) => string {
  let [second, text] = [-1, ''];
  return (nowMs) => {
    const now = Math.floor(nowMs / 1000);
    if (now !== second) [second, text] = [now, new Date(nowMs).toUTCString()];
    return text;
  };
}
