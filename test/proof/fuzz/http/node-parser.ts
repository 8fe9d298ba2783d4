// Node's own parser (llhttp, strict), the reference for Ringback's two HTTP parsers. It runs without a socket, over
// which a million messages would take an hour.
import { createRequire } from 'node:module';

export interface NodeMessage {
  /** Of a response. */
  status: number | undefined;
  /** Of a request. */
  method: string | undefined;
  url: string | undefined;
  /** In order, with names in lower case. */
  headers: [string, string][];
  body: string;
  isComplete: boolean;
}

export interface NodeReading {
  messages: NodeMessage[];
  /** The error code, if it refused the bytes. */
  error: string | undefined;
}

interface Parser {
  initialize(kind: number, resource: object): void;
  execute(bytes: Uint8Array): number | Error;
  finish(): Error | undefined;
  [callback: number]: (...args: never[]) => unknown;
}

interface HttpParser {
  new (): Parser;
  REQUEST: number;
  RESPONSE: number;
  kOnHeaders: number;
  kOnHeadersComplete: number;
  kOnBody: number;
  kOnMessageComplete: number;
}

// The module has no types and no `node:` name. Node's own HTTP servers and clients get their parser from it.
const { HTTPParser, methods } = createRequire(import.meta.url)('_http_common') as {
  HTTPParser: HttpParser;
  methods: readonly string[];
};

type HeadComplete = [
  major: number,
  minor: number,
  headers: string[] | undefined,
  method: number | undefined,
  url: string | undefined,
  status: number | undefined,
];

/** Parses all messages in the bytes, as if the connection ended after them. */
export function readByNode(kind: 'request' | 'answer', bytes: Uint8Array): NodeReading {
  const parser = new HTTPParser();
  const messages: NodeMessage[] = [];
  let early: string[] = []; // If there are many headers, it reports some of them before the rest.
  parser.initialize(kind === 'request' ? HTTPParser.REQUEST : HTTPParser.RESPONSE, {});
  parser[HTTPParser.kOnHeaders] = (headers: string[], url: string) => {
    void url;
    if (messages.at(-1)?.isComplete === false) return; // Trailers.
    early.push(...headers);
  };
  parser[HTTPParser.kOnHeadersComplete] = (...told: HeadComplete) => {
    const [, , headers = [], method, url, status] = told;
    messages.push({
      status,
      method: method === undefined ? undefined : methods[method],
      url,
      headers: pairs([...early, ...headers]),
      body: '',
      isComplete: false,
    });
    early = [];
    return 0;
  };
  parser[HTTPParser.kOnBody] = (piece: Buffer) => {
    const last = messages.at(-1);
    if (last !== undefined) last.body += piece.toString('latin1');
  };
  parser[HTTPParser.kOnMessageComplete] = () => {
    const last = messages.at(-1);
    if (last !== undefined) last.isComplete = true;
  };
  const error = errorOf(parser.execute(bytes)) ?? errorOf(parser.finish());
  return { messages, error };
}

function errorOf(result: number | Error | undefined): string | undefined {
  if (!(result instanceof Error)) return undefined;
  return 'code' in result ? String(result.code) : String(result);
}

function pairs(flat: readonly string[]): [string, string][] {
  return Array.from({ length: flat.length / 2 }, (_, index) => [
    (flat[2 * index] ?? '').toLowerCase(),
    flat[2 * index + 1] ?? '',
  ]);
}
