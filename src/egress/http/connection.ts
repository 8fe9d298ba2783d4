// One connection to a receiver: it is dialled, then carries one request at a time with its
// response.
import type { Socket } from 'node:net';
import { type AnswerHead, type AnswerLimits, AnswerReader } from './answer-reader.ts';
import { DialError, openVetted, type DialOptions } from './connect.ts';
import type { Deadline } from './deadlines.ts';
import type { Link } from '../../core/base/linked-list.ts';
import type { RequestBytes } from './request-bytes.ts';
import type { Starter, StartQueue } from './start-queue.ts';

/** A request on a connection, until it is lost or completed. */
export interface ConnectionUser {
  readonly method: string;
  /**
   * The connection is open. Called in the turn in which the request is written; returning
   * `undefined` prevents that.
   */
  start(): RequestBytes | undefined;
  /** The first byte of a response has arrived. */
  onFirstByte(): void;
  onHead(head: AnswerHead): void;
  onBody(data: Uint8Array): void;
  onEnd(): void;
  onLost(error: unknown): void;
}

export interface ConnectionOptions extends DialOptions {
  readonly limits: AnswerLimits;
  readonly startQueue: StartQueue;
  /** The connection is unusable. Called once, unless `end` was called before. */
  readonly onGone: (connection: Connection) => void;
}

/**
 * The error of a request whose connection was closed by this node or, while idle, by the receiver.
 */
export class ConnectionGone extends Error {
  override readonly name = 'ConnectionGone';
}

export class Connection implements Link<Connection>, Starter {
  before: Connection | undefined;
  after: Connection | undefined;
  /** Such as `https://example.com:8443`. */
  readonly origin: string;
  /** On the monotonic clock. */
  readonly openedMs: number;
  /** How long it may be idle. */
  keepAliveMs: number | undefined;
  /** Set while it is idle. */
  idleDeadline: Deadline | undefined;
  readonly #options: ConnectionOptions;
  readonly #dial = new AbortController();
  readonly #reader: AnswerReader;
  readonly #opened: Promise<void>;
  #socket: Socket | undefined;
  #closed: Promise<unknown> | undefined;
  #carried: ConnectionUser | undefined;
  /** Of the request that is about to be written. */
  #bytes: RequestBytes | undefined;
  /** The request is written, and its response may come. */
  #isStarted = false;
  #hasReceived = false;
  #isKept = true;
  #isOver = false;
  #requests = 0;

  constructor(origin: string, openedMs: number, options: ConnectionOptions) {
    this.origin = origin;
    this.openedMs = openedMs;
    this.#options = options;
    this.#reader = new AnswerReader(options.limits, this);
    this.#opened = this.#open();
  }

  /** Whether it has carried a request before. */
  get isUsed(): boolean {
    return this.#requests > 0;
  }

  assign(carried: ConnectionUser): void {
    this.#carried = carried;
    this.#isStarted = false;
    // A reset is reported a little later than it happens: do not start what cannot be written.
    if (this.#socket?.destroyed === true) this.#fail(gone);
    else if (this.#socket !== undefined) this.#options.startQueue.add(this);
  }

  build(): void {
    this.#bytes = this.#carried?.start();
  }

  write(): void {
    const socket = this.#socket;
    const carried = this.#carried;
    const bytes = this.#bytes;
    this.#bytes = undefined;
    if (socket === undefined || carried === undefined || bytes === undefined) return;
    this.#requests += 1;
    this.#isStarted = true;
    this.#hasReceived = false;
    this.#isKept = true;
    this.#reader.begin(carried.method);
    if (bytes.rest === undefined) {
      socket.write(bytes.first);
      return;
    }
    socket.cork();
    socket.write(bytes.first);
    socket.write(bytes.rest);
    socket.uncork();
  }

  /** Fails the request on it with ConnectionGone. Resolves when the socket is closed. */
  async end(): Promise<void> {
    const carried = this.#releaseUser();
    this.#dial.abort();
    this.#socket?.destroy();
    carried?.onLost(gone);
    await this.#opened;
    await this.#closed;
  }

  onHead(head: AnswerHead): void {
    // A response to HEAD should have no body, but one that announces a body may send it.
    const isSure = this.#carried?.method !== 'HEAD' || head.body.kind === 'none';
    this.#isKept &&= head.isKept && isSure;
    this.keepAliveMs = head.keepAliveMs;
    this.#carried?.onHead(head);
  }

  onBody(data: Uint8Array): void {
    this.#carried?.onBody(data);
  }

  async #open(): Promise<void> {
    const result = await openVetted(`${this.origin}/`, {
      ...this.#options,
      signal: this.#dial.signal,
      onBytes: (piece) => this.#onData(piece),
    });
    if (result.kind !== 'connected') return this.#fail(new DialError(result));
    const { socket } = result;
    this.#socket = socket;
    this.#closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(gone));
    socket.on('end', () => this.#onEnd());
    socket.on('data', (piece: Buffer) => this.#onData(piece)); // With TLS, or when the connector ignores onBytes.
    if (this.#isOver) socket.destroy();
    else if (this.#carried !== undefined) this.#options.startQueue.add(this);
  }

  #onData(piece: Buffer): void {
    const socket = this.#socket;
    const carried = this.#carried;
    if (socket === undefined || carried === undefined || !this.#isStarted) return this.#fail(gone); // No request is in flight.
    if (!this.#hasReceived) {
      this.#hasReceived = true;
      carried.onFirstByte();
    }
    let reading;
    try {
      reading = this.#reader.read(piece);
    } catch (error) {
      return this.#fail(error);
    }
    if (reading === 'goes_on' || this.#carried !== carried) return;
    // A receiver that responds before it has read the whole request will not read the rest of it.
    const isClean = reading === 'ended' && this.#isKept && socket.writableLength === 0;
    this.#carried = undefined;
    if (!isClean) this.#fail(gone);
    carried.onEnd();
  }

  #onEnd(): void {
    const carried = this.#carried;
    const isAnswer = this.#reader.close();
    if (isAnswer) this.#carried = undefined;
    this.#fail(gone);
    if (isAnswer) carried?.onEnd();
  }

  #fail(error: unknown): void {
    if (this.#isOver) return;
    const carried = this.#releaseUser();
    this.#options.onGone(this);
    carried?.onLost(error);
  }

  #releaseUser(): ConnectionUser | undefined {
    const carried = this.#carried;
    this.#isOver = true;
    this.#carried = undefined;
    this.#reader.stop();
    return carried;
  }
}

const gone = new ConnectionGone('The connection was closed before the request was answered.');
