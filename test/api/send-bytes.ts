// Sends raw bytes that no HTTP client would send, and reads the response.
import { connect } from 'node:net';
import type { Answer } from './harness.ts';

/** The text is encoded as latin1, so that `\xff` is one byte. */
export async function sendBytes(base: string, text: string): Promise<Answer> {
  const { hostname, port } = new URL(base);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.end(text, 'latin1');
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return readAnswer(Buffer.concat(chunks).toString());
}

function readAnswer(answer: string): Answer {
  const end = answer.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = answer.slice(0, end).split('\r\n');
  const headers = new Headers(lines.map((line) => line.split(/: (.*)/s, 2) as [string, string]));
  const length = Number(headers.get('content-length') ?? 0);
  const text = Buffer.from(answer.slice(end + 4))
    .subarray(0, length)
    .toString();
  const json = text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {};
  return { status: Number(statusLine.split(' ')[1]), headers, text, json };
}
