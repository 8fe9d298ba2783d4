// Compares the server's fast path for requests with Node's parser. The fast path may leave any request to Node, but
// whatever it accepts, Node must read in the same way: as one request with the same path, headers and body.
import { WholeReader, type WholeRequest } from '../../../../src/api/direct/read-whole.ts';
import type { Chance } from '../../sim/chance.ts';
import { readByNode, type NodeReading } from './node-parser.ts';
import { show, spoil, type Judged } from './spoiled.ts';

/** No flaw if both agree, or if the fast path leaves the request to Node. */
export function judgeRequest(chance: Chance): Judged {
  const good = drawRequest(chance);
  const bytes = chance.isLucky(0.6) ? spoil(chance, good) : good;
  const reader = new WholeReader();
  // The reader reuses the previous head if the new one repeats it; that must not change the result.
  if (chance.isLucky(0.5)) reader.read(good);
  const ours = reader.read(bytes);
  if (typeof ours !== 'object') return { isAccepted: false, flaw: undefined };
  const flaw = disagreement(ours, readByNode('request', bytes));
  return { isAccepted: true, flaw: flaw && `a request, ${flaw}: ${show(bytes)}` };
}

function drawRequest(chance: Chance): Buffer {
  const body = chance.pick(bodies);
  const lines = Array.from({ length: chance.whole(0, 2) }, () => chance.pick(headerLines));
  const framing = chance.isLucky(0.85) ? `Content-Length: ${body.length}` : chance.pick(framings);
  const plain = ['Host: x', 'Content-Type: application/json', framing];
  for (const line of plain) lines.splice(chance.whole(0, lines.length), 0, line);
  const tail = chance.isLucky(0.05) ? chance.pick(tails) : '';
  const head = [chance.pick(requestLines), ...lines].join('\r\n');
  return Buffer.from(`${head}\r\n\r\n${body}${tail}`, 'latin1');
}

function disagreement(ours: WholeRequest, { messages, error }: NodeReading): string | undefined {
  const [theirs, ...more] = messages;
  if (theirs === undefined || error !== undefined) return `Node refuses it (${error})`;
  if (more.length > 0) return 'Node reads another request after it';
  if (!theirs.isComplete) return 'to Node it is incomplete';
  if (theirs.method !== 'POST') return `its method is ${theirs.method} to Node`;
  if (theirs.url !== ours.head.url) return `its path is ${theirs.url} to Node`;
  if (theirs.body !== ours.body.toString('latin1')) return 'another body';
  const said = { ...ours.head.headersDistinct, 'content-length': [String(ours.body.length)] };
  const names = (headers: Record<string, string[]>): string =>
    JSON.stringify(Object.entries(headers).sort(([one], [other]) => (one < other ? -1 : 1)));
  const distinct = Object.groupBy(theirs.headers, ([name]) => name);
  const theirsSaid = Object.fromEntries(
    Object.entries(distinct).map(([name, lines = []]) => [name, lines.map(([, value]) => value)]),
  );
  return names(said) === names(theirsSaid) ? undefined : 'other headers';
}

const requestLines = [
  'POST /events HTTP/1.1',
  'POST /events HTTP/1.1',
  'POST /events/batch?a=%20&b HTTP/1.1',
  'POST /a//../b#c HTTP/1.1',
  'POST /~!$&\'()*+,;=:@[]{}|"<>^` HTTP/1.1',
  'PUT /events HTTP/1.1',
  'GET /events HTTP/1.1',
  'POST /events HTTP/1.0',
  'POST http://x/events HTTP/1.1',
];
const headerLines = [
  'X-API-Key: k',
  'x-api-key:k',
  'X-Blank: \t a b \t',
  'X-Empty:',
  "X_Y!#$%&'*+-.^`|~: 1",
  'Connection: keep-alive',
  'Connection: close',
  'Expect: 100-continue',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: identity',
  'Content-Length: 2',
  'Host: y',
  'Upgrade: h2c',
  '__proto__: x',
  'Cookie: a=b; c=d',
];
const framings = [
  'Content-Length: 02',
  'Content-Length: +2',
  'Content-Length: 2, 2',
  'Content-Length: 0',
  'Transfer-Encoding: chunked',
];
const bodies = ['{}', '{"event":"a.b","payload":{}}', '0\r\n\r\n', 'x'];
const tails = ['x', '\r\n', 'POST /events HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n'];
