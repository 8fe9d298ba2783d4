// Reads the raw bytes of a body, from fetch or from Node, up to the limit: a larger body is rejected while it is
// being read.
import { ForgeryError } from './forgery.ts';

/** The parts of a request of `node:http`, Express and the like that are used here. */
export interface NodeRequest {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The body as parsed by a framework, if it was. */
  readonly body?: unknown;
  readonly readableDidRead?: boolean;
  /** The body has been received completely. */
  readonly complete?: boolean;
  [Symbol.asyncIterator]: () => AsyncIterator<unknown>;
}

export async function readFetchBody(request: Request, bytesMax: number): Promise<Uint8Array> {
  if (request.bodyUsed) throw alreadyRead();
  if (request.body === null) return new Uint8Array();
  const reader = request.body.getReader();
  try {
    return await gather(async () => reader.read(), bytesMax);
  } catch (error) {
    // Stop reading a body that is too large. It may have ended already, which is fine.
    await reader.cancel().catch(() => undefined);
    throw error;
  }
}

export async function readNodeBody(request: NodeRequest, bytesMax: number): Promise<Uint8Array> {
  if (request.body !== undefined && request.body !== null) return givenBody(request.body, bytesMax);
  if (request.readableDidRead === true) throw alreadyRead();
  // Not `for await`: leaving the loop early destroys the connection, and the response with it.
  const chunks = request[Symbol.asyncIterator]();
  return gather(async () => chunks.next(), bytesMax);
}

/**
 * Whether the rest of the body stays within the limit. If it does, read it: closing the connection while the
 * sender is still sending would lose the response.
 */
export function isBounded({ complete, headers }: NodeRequest, bytesMax: number): boolean {
  if (complete === true) return true;
  const isDeclared = headers['transfer-encoding'] === undefined;
  return isDeclared && Number(headers['content-length'] ?? 0) <= bytesMax;
}

/** The body that a framework has read. For an empty body, some set undefined and some null. */
export function givenBody(body: unknown, bytesMax: number): Uint8Array {
  if (body === undefined || body === null) return new Uint8Array();
  return bytesWithin(body, bytesMax);
}

/** Describes a caller's value: untyped programs may pass anything. */
export function bytesWithin(body: unknown, bytesMax: number): Uint8Array {
  if (!isBytes(body)) throw alreadyParsed(body === null ? 'null' : typeof body);
  if (body.length <= bytesMax) return Uint8Array.from(body);
  throw new ForgeryError('body_too_large', `The body is larger than ${bytesMax} bytes`);
}

/** Not `instanceof`: test runners use several realms, each with its own Uint8Array. */
function isBytes(value: unknown): value is Uint8Array {
  return Object.prototype.toString.call(value) === '[object Uint8Array]';
}

async function gather(
  next: () => Promise<{ done?: boolean | undefined; value?: unknown }>,
  bytesMax: number,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const { done, value } = await next().catch(() => {
      throw new ForgeryError('body_cut', 'The body ended before it was complete');
    });
    if (done === true) break;
    if (!isBytes(value)) throw alreadyParsed(typeof value);
    bytes += value.length;
    if (bytes > bytesMax) {
      throw new ForgeryError('body_too_large', `The body is larger than ${bytesMax} bytes`);
    }
    chunks.push(value);
  }
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

const whatToDo =
  'Express: app.post(path, express.raw({ type: "*/*" }), receiver.node(handler)), ' +
  'before any express.json(). Fastify: addContentTypeParser("application/json", { ' +
  'parseAs: "buffer" }, (request, body, done) => done(null, body)). Other frameworks: ' +
  'pass the request on before its body is read';

function alreadyParsed(type: string): TypeError {
  return new TypeError(
    `Cannot verify a body that was already parsed: it is of type ${type}, expected its ` +
      `bytes. ${whatToDo}`,
  );
}

function alreadyRead(): TypeError {
  return new TypeError(
    `Cannot verify a body that was already read: nothing is left of it. ${whatToDo}`,
  );
}
