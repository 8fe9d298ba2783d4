// Holds an answer of node:http until it is complete, so that a header can be added after the handler has answered. The
// answer is then sent by the calls that the handler made, so nothing else changes. Works beside other code that wraps
// a response, such as compression and sessions.
import { webPlatform } from '../client/platform.ts';

/** The parts of a response of `node:http`, Express, Fastify and the like that are used here. */
export interface NodeResponse {
  statusCode: number;
  getHeaders: () => object;
  destroy: (error?: Error) => unknown;
}

export interface Answer {
  status: number;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  body: Uint8Array;
}

/** Why an answer is not held any longer, although it is not complete. */
export type Unheld = 'large' | 'slow' | 'broken';

/** What is sent: the answer with one more header, or another answer instead. */
export type Sent =
  | { kind: 'answer'; header?: readonly [name: string, value: string] | undefined }
  | { kind: 'instead'; status: number; contentType: string; body: string };

export interface Holding {
  bytesMax: number;
  /** From the first byte of the answer to its end. */
  withinMs: number;
  isHeld: (status: number) => boolean;
  complete: (answer: Answer) => Promise<Sent>;
  unheld: (why: Unheld) => Sent;
}

/** Headers of an answer that say nothing about the one that is sent instead. */
export function describesBody(header: string): boolean {
  return /^(content-(?!security-policy)|etag$|last-modified$|location$|trailer$|transfer-)/.test(
    header,
  );
}

/** The bytes of a body of fetch. Never rejects. */
export async function readBytes(
  body: ReadableStream<Uint8Array> | null,
  { bytesMax, signal }: { bytesMax: number; signal?: AbortSignal },
): Promise<Uint8Array | Unheld> {
  if (body === null) return new Uint8Array();
  const reader = body.getReader();
  const stop = (): void => void reader.cancel().catch(() => undefined);
  signal?.addEventListener('abort', stop);
  let bytes = new Uint8Array();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (signal?.aborted === true) return 'slow';
      if (done) return bytes;
      if (bytes.length + value.length > bytesMax) {
        stop();
        return 'large';
      }
      const longer = new Uint8Array(bytes.length + value.length);
      longer.set(bytes);
      longer.set(value, bytes.length);
      bytes = longer;
    }
  } catch {
    return 'broken';
  }
}

export function holdAnswer(response: NodeResponse, holding: Holding): void {
  new HeldAnswer(response, holding).wrap();
}

interface Call {
  name: string;
  args: readonly unknown[];
}

type Method = (...args: readonly unknown[]) => unknown;

class HeldAnswer {
  #response: NodeResponse;
  #holding: Holding;
  /** The methods as they were: those of the platform, or of other code that wraps the response. */
  #methods = new Map<string, Method>();
  #calls: Call[] = [];
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #isEnded = false;
  #isSent = false;
  #timer = new AbortController();

  constructor(response: NodeResponse, holding: Holding) {
    this.#response = response;
    this.#holding = holding;
  }

  wrap(): void {
    this.#replace('writeHead', (args) => this.#writeHead(args));
    this.#replace('flushHeaders', (args) => this.#hold({ name: 'flushHeaders', args }));
    this.#replace('write', (args) => this.#write(args));
    this.#replace('end', (args) => this.#end(args));
    for (const name of ['setHeader', 'setHeaders', 'appendHeader', 'removeHeader']) {
      this.#replace(name, (args) => this.#changeHeader(name, args));
    }
    // Error handlers ask these before they answer.
    this.#pretend('headersSent', () => this.#calls.length > 0);
    this.#pretend('writableEnded', () => this.#isEnded);
  }

  /** Other code may keep the new method, so it stays for ever. */
  #replace(name: string, method: (args: readonly unknown[]) => unknown): void {
    const before: unknown = Reflect.get(this.#response, name);
    if (!isMethod(before)) return;
    this.#methods.set(name, before);
    const value = (...args: readonly unknown[]): unknown =>
      this.#isSent ? this.#call({ name, args }) : method(args);
    Object.defineProperty(this.#response, name, { configurable: true, writable: true, value });
  }

  #pretend(name: string, isSo: () => boolean): void {
    const response = this.#response;
    const get = (): unknown =>
      this.#isSent ? Reflect.get(Object.getPrototypeOf(response), name, response) : isSo();
    Object.defineProperty(response, name, { configurable: true, get });
  }

  #call({ name, args }: Call): unknown {
    const method = this.#methods.get(name);
    return method && Reflect.apply(method, this.#response, args);
  }

  #writeHead([status, ...rest]: readonly unknown[]): unknown {
    // Compression writes the head again with each chunk, as long as the platform has not.
    if (this.#calls.some(({ name }) => name === 'writeHead')) return this.#response;
    const message = rest.filter((one) => typeof one === 'string');
    // Set now, so that the platform throws to the handler what it does not accept.
    for (const header of headersIn(rest)) this.#call(header);
    if (typeof status === 'number') this.#response.statusCode = status;
    this.#hold({ name: 'writeHead', args: [status, ...message] });
    return this.#response;
  }

  #changeHeader(name: string, args: readonly unknown[]): unknown {
    if (this.#calls.length === 0) return this.#call({ name, args });
    const error = new Error(`Cannot call ${name}: the headers are already sent to the client`);
    throw Object.assign(error, { code: 'ERR_HTTP_HEADERS_SENT' });
  }

  #write(args: readonly unknown[]): unknown {
    if (this.#isEnded) return false;
    const bytes = copyOf(args);
    // The platform throws what it always throws.
    if (bytes === undefined) return this.#call({ name: 'write', args });
    const done = args.find(isMethod);
    if (done !== undefined) queueMicrotask(done);
    this.#keep(bytes);
    return this.#hold({ name: 'write', args: [bytes] });
  }

  #end(args: readonly unknown[]): unknown {
    if (this.#isEnded) return this.#response;
    const [first] = args;
    const done = args.filter(isMethod);
    const isEmpty = first === undefined || first === null || isMethod(first);
    const bytes = copyOf(args);
    if (!isEmpty && bytes === undefined) return this.#call({ name: 'end', args });
    if (bytes !== undefined) this.#keep(bytes);
    this.#isEnded = true;
    this.#hold({ name: 'end', args: bytes === undefined ? done : [bytes, ...done] });
    return this.#response;
  }

  #keep(bytes: Uint8Array): void {
    this.#chunks.push(bytes);
    this.#bytes += bytes.length;
  }

  #hold(call: Call): boolean {
    this.#calls.push(call);
    const { isHeld, bytesMax, complete, unheld, withinMs } = this.#holding;
    const { statusCode: status } = this.#response;
    if (!isHeld(status)) this.#send({ kind: 'answer' });
    else if (this.#bytes > bytesMax) this.#send(unheld('large'));
    else if (this.#isEnded) {
      this.#timer.abort();
      const headers = headersOf(this.#response);
      const answer = { status, headers, body: Buffer.concat(this.#chunks) };
      void complete(answer).then((sent) => this.#send(sent));
    } else if (this.#calls.length === 1) {
      const late = (): void => this.#send(unheld('slow'));
      webPlatform.sleep(withinMs, this.#timer.signal).then(late, () => undefined);
    }
    return true;
  }

  #send(sent: Sent): void {
    if (this.#isSent) return;
    this.#isSent = true;
    this.#timer.abort();
    try {
      if (sent.kind === 'instead') return this.#sendInstead(sent);
      if (sent.header !== undefined) this.#call({ name: 'setHeader', args: sent.header });
      for (const call of this.#calls) this.#call(call);
    } catch (error) {
      // The handler has returned and can no longer catch it.
      this.#response.destroy(error instanceof Error ? error : undefined);
    } finally {
      this.#calls = [];
      this.#chunks = [];
    }
  }

  #sendInstead({ status, contentType, body }: Sent & { kind: 'instead' }): void {
    const names = Object.keys(this.#response.getHeaders()).filter(describesBody);
    for (const name of names) this.#call({ name: 'removeHeader', args: [name] });
    this.#response.statusCode = status;
    this.#call({ name: 'setHeader', args: ['content-type', contentType] });
    const done = this.#calls.at(-1)?.args.filter(isMethod) ?? [];
    this.#call({ name: 'end', args: [body, ...done] });
  }
}

function isMethod(value: unknown): value is Method {
  return typeof value === 'function';
}

/** The program may use its buffer again. Undefined if there are no bytes. */
function copyOf([chunk, encoding]: readonly unknown[]): Uint8Array | undefined {
  if (chunk instanceof Uint8Array) return Buffer.from(chunk);
  if (typeof chunk !== 'string') return undefined;
  return typeof encoding === 'string' && Buffer.isEncoding(encoding)
    ? Buffer.from(chunk, encoding)
    : Buffer.from(chunk);
}

/** Headers of `writeHead`, as the calls that set them: an object, or a list of names and values. */
function headersIn(head: readonly unknown[]): Call[] {
  const given = head.find((one) => typeof one === 'object' && one !== null) ?? {};
  if (!Array.isArray(given)) {
    return Object.entries(given).map((pair) => ({ name: 'setHeader', args: pair }));
  }
  const flat: unknown[] = given.flat();
  const pairs = flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1]]] : []));
  return [
    ...pairs.map(([name]) => ({ name: 'removeHeader', args: [name] })),
    ...pairs.map((args) => ({ name: 'appendHeader', args })),
  ];
}

function headersOf(response: NodeResponse): Record<string, string> {
  return Object.fromEntries(
    Object.entries(response.getHeaders()).map(([name, value]: [string, unknown]) => [
      name.toLowerCase(),
      Array.isArray(value) ? value.join(', ') : String(value),
    ]),
  );
}
