// Compares Ringback's response reader with Node's parser. The reader may refuse more, but whatever it accepts, Node must
// read in the same way: status, headers, body and end. Otherwise a receiver could desynchronise a connection.
import { limits } from '../../../../src/core/limits/limits.ts';
import {
  AnswerReader,
  AnswerTooLong,
  BadAnswer,
} from '../../../../src/egress/http/answer-reader.ts';
import type { Chance } from '../../sim/chance.ts';
import { readByNode, type NodeReading } from './node-parser.ts';
import { cut, show, spoil, type Judged } from './spoiled.ts';

interface OurReading {
  status: number | undefined;
  headers: [string, string][];
  body: string;
  isKept: boolean;
  how: 'goes_on' | 'ended' | 'ended_early' | 'closed' | 'refused';
}

function drawAnswer(chance: Chance): Buffer {
  const interim = chance.isLucky(0.1) ? chance.pick(interims) : '';
  const lines = Array.from({ length: chance.whole(0, 2) }, () => chance.pick(headerLines));
  const [framing, body] = chance.pick(bodies);
  lines.splice(chance.whole(0, lines.length), 0, ...framing);
  const tail = chance.isLucky(0.05) ? chance.pick(tails) : '';
  const head = [chance.pick(statusLines), ...lines].join('\r\n');
  const bytes = Buffer.from(`${interim}${head}\r\n\r\n${body}${tail}`, 'latin1');
  return chance.isLucky(0.6) ? spoil(chance, bytes) : bytes;
}

function readByUs(pieces: readonly Buffer[]): OurReading {
  const read: OurReading = {
    status: undefined,
    headers: [],
    body: '',
    isKept: true,
    how: 'goes_on',
  };
  const reader = new AnswerReader(limits, {
    onHead: ({ status, headers, isKept }) => {
      read.isKept &&= isKept;
      if (status >= 200) Object.assign(read, { status, headers });
    },
    onBody: (data) => {
      read.body += Buffer.from(data).toString('latin1');
    },
  });
  reader.begin('POST');
  try {
    for (const [at, piece] of pieces.entries()) {
      read.how = reader.read(piece);
      if (read.how === 'ended' && at < pieces.length - 1) read.how = 'ended_early';
      if (read.how !== 'goes_on') return read;
    }
  } catch (error) {
    if (!(error instanceof BadAnswer || error instanceof AnswerTooLong)) throw error;
    return { ...read, how: 'refused' };
  }
  return reader.close() ? { ...read, how: 'closed' } : read;
}

/** No flaw if both agree, or if our reader is stricter. */
export function judgeAnswer(chance: Chance): Judged {
  const bytes = drawAnswer(chance);
  const ours = readByUs(cut(chance, bytes));
  const isAccepted = ours.status !== undefined;
  const flaw = isAccepted ? disagreement(ours, readByNode('answer', bytes)) : undefined;
  return { isAccepted, flaw: flaw && `an answer, ${flaw}: ${show(bytes)}` };
}

function disagreement(ours: OurReading, { messages, error }: NodeReading): string | undefined {
  const theirs = messages.find(({ status = 0 }) => status >= 200);
  if (theirs === undefined) return `Node refuses the head (${error})`;
  if (theirs.status !== ours.status)
    return `the status is ${ours.status}, to Node ${theirs.status}`;
  if (JSON.stringify(theirs.headers) !== JSON.stringify(ours.headers)) return 'other headers';
  // An incomplete response counts as cut, and its connection is closed, so the rest does not matter.
  if (ours.how === 'goes_on' || ours.how === 'refused') return undefined;
  if (!theirs.isComplete) return `it ends, to Node it does not (${error})`;
  if (theirs.body !== ours.body) return 'another body';
  const isAlone = messages.at(-1) === theirs && error === undefined;
  if (ours.how === 'ended' && ours.isKept && !isAlone) return `more comes after it (${error})`;
  return undefined;
}

const statusLines = [
  'HTTP/1.1 200 OK',
  'HTTP/1.1 200 OK',
  'HTTP/1.1 202',
  'HTTP/1.1 204 No Content',
  'HTTP/1.1 304 Not Modified',
  'HTTP/1.1 410 Gone',
  'HTTP/1.1 500 \xe9',
  'HTTP/1.0 200 OK',
  'HTTP/1.1 999 ?',
];
const interims = [
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n',
  'HTTP/1.1 102 Processing\r\n\r\n',
  'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
  'HTTP/1.1 199 Odd\r\ncontent-length: 3\r\n\r\n',
];
const headerLines = [
  'Date: Wed, 18 Nov 2026 00:00:00 GMT',
  'Connection: close',
  'Connection: keep-alive',
  'Keep-Alive: timeout=5, max=100',
  'X-Empty:',
  'X-Blank: \t a b \t',
  'X-High: \x80\xff',
  "X_Y!#$%&'*+-.^`|~: 1",
  'Set-Cookie: a=b; c',
  'Content-Type: application/json',
  'Trailer: x',
  'Upgrade: h2c',
];
const chunks = ['3\r\nabc\r\n', 'A;x=y\r\n0123456789\r\n', '0001\r\nb\r\n'];
const oddChunk = '1;x="y;z"\r\na\r\n';
const trailers = ['', 'x: y\r\n', 'X-A:b\r\nz: w\r\n'];
const bodies: readonly (readonly [framing: readonly string[], body: string])[] = [
  [['Content-Length: 0'], ''],
  [['Content-Length: 5'], 'hello'],
  [['content-length:\t5 '], 'hello'],
  [['Content-Length: 5'], 'hel'],
  [[], 'until it is closed'],
  [['Transfer-Encoding: gzip'], 'until it is closed'],
  [['Content-Length: 5', 'Content-Length: 5'], 'hello'],
  [['Content-Length: 5', 'Transfer-Encoding: chunked'], '0\r\n\r\n'],
  ...['chunked', 'Chunked', 'gzip, chunked'].flatMap((coding) =>
    trailers.map(
      (trailer) =>
        [[`Transfer-Encoding: ${coding}`], `${chunks.join('')}0\r\n${trailer}\r\n`] as const,
    ),
  ),
  ...[...chunks, oddChunk].map(
    (chunk) => [['Transfer-Encoding: chunked'], `${chunk}0\r\n\r\n`] as const,
  ),
];
const tails = ['x', '\r\n', 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n', '0\r\n\r\n'];
