// A connection that is read and answered here, one request at a time, as long as everything on it
// is plain. Anything else, and a slow client, goes to Node's HTTP server together with the
// connection, and stays there.
import type { Socket } from 'node:net';
import { limits } from '../../core/limits/limits.ts';
import { WholeReader, type WholeRequest } from './read-whole.ts';

export interface Answer {
  text: string;
  encoding: 'latin1' | 'utf8';
  /** No further request is answered on the connection. */
  isLast: boolean;
  /** Called when the answer was sent, or the client is gone. */
  onSent: () => void;
}

export interface Serving {
  /** Undefined if the request is not served directly. */
  serve(request: WholeRequest, socket: Socket): Promise<Answer> | undefined;
  /** Takes the connection, with the unanswered bytes put back. */
  handOver(socket: Socket): void;
  /** The connection ended in the middle of a request. */
  breakOff(socket: Socket): void;
  /** Answering failed, by a bug of ours. The connection is cut. */
  onError(error: unknown): void;
}

/**
 * `fresh`: no request yet. `closing`: serving its last request. `over`: the last answer was sent.
 */
type State = 'fresh' | 'idle' | 'busy' | 'closing' | 'over';

/** At least the promised keep-alive time. */
const idleTimesMax = Math.ceil(limits.keepAliveTimeoutMs / limits.connectionTimeoutMs);

export class DirectConnection {
  readonly #socket: Socket;
  readonly #serving: Serving;
  readonly #reader = new WholeReader();
  readonly #listeners: readonly (readonly [string, (piece: Buffer) => void])[];
  #state: State = 'fresh';
  /** The beginning of a request, and in how many pieces it arrived. */
  #begun: Buffer | undefined;
  #pieces = 0;
  #hasEnded = false;
  /** How many timeouts have passed since the last answer. */
  #idleTimes = 0;

  constructor(socket: Socket, serving: Serving) {
    this.#socket = socket;
    this.#serving = serving;
    this.#listeners = [
      ['data', (piece) => this.#read(piece)],
      ['end', () => this.#end()],
      ['timeout', () => this.#giveUp()],
      ['error', () => undefined], // It closes the socket, which is reported by `close`.
    ];
    for (const [name, listener] of this.#listeners) socket.on(name, listener);
    this.#wait(limits.directWaitMs);
  }

  /** Ends the connection once the current request is answered. */
  close(): void {
    if (this.#state === 'busy') this.#state = 'closing';
    else if (this.#begun !== undefined) this.#handOver(this.#begun);
    else if (this.#state !== 'closing') this.#socket.destroy();
  }

  #read(piece: Buffer): void {
    switch (this.#state) {
      case 'fresh':
      case 'idle':
        this.#look(this.#begun === undefined ? piece : Buffer.concat([this.#begun, piece]));
        break;
      case 'busy':
      case 'closing':
        // One request at a time. The bytes are put back, so that the end of the stream is not
        // reported before them.
        this.#socket.pause();
        this.#socket.unshift(piece);
        break;
      case 'over':
        this.#pieces += 1;
        if (this.#pieces > limits.overPiecesMax) this.#socket.destroy();
        break;
    }
  }

  #look(bytes: Buffer): void {
    const reading = this.#reader.read(bytes);
    this.#pieces += 1;
    if (reading === 'unfinished' && this.#pieces < limits.directPiecesMax) {
      this.#begun = bytes;
      this.#wait(limits.directWaitMs);
      return;
    }
    const isWhole = typeof reading === 'object';
    const answering = isWhole ? this.#serving.serve(reading, this.#socket) : undefined;
    if (answering === undefined) {
      this.#handOver(bytes);
      return;
    }
    this.#begun = undefined;
    this.#pieces = 0;
    this.#state = 'busy';
    this.#idleTimes = 0;
    this.#wait(limits.connectionTimeoutMs);
    answering.then(
      (answer) => this.#send(answer),
      (error: unknown) => {
        this.#socket.destroy();
        this.#serving.onError(error);
      },
    );
  }

  #send({ text, encoding, isLast, onSent }: Answer): void {
    const sent = (): void => {
      onSent();
      this.#rest(isLast);
    };
    // A client that does not read its answer is not read from either.
    if (this.#socket.writable) this.#socket.write(text, encoding, sent);
    else sent();
  }

  #rest(wasLast: boolean): void {
    const socket = this.#socket;
    if (this.#hasEnded || this.#state === 'closing') {
      socket.destroySoon();
      return;
    }
    this.#state = wasLast ? 'over' : 'idle';
    if (wasLast) {
      // Destroyed at once while more arrives, the client might not read the last answer.
      socket.end();
      this.#wait(limits.overLingerMs);
    }
    if (socket.isPaused()) socket.resume();
  }

  #end(): void {
    this.#hasEnded = true;
    if (this.#begun !== undefined) {
      this.#begun = undefined;
      this.#state = 'over';
      this.#serving.breakOff(this.#socket);
    } else if (this.#state !== 'busy' && this.#state !== 'closing') {
      this.#socket.destroySoon();
    }
  }

  /** The socket timed out: nothing was received or sent for a while. */
  #giveUp(): void {
    if (this.#state === 'fresh' || this.#begun !== undefined) {
      this.#handOver(this.#begun);
      return;
    }
    // One timeout for clients that read no answer and for idle ones: resetting it for each request
    // costs more.
    this.#idleTimes += 1;
    const isIdle = this.#state === 'idle' && this.#idleTimes < idleTimesMax;
    if (isIdle) this.#socket.setTimeout(limits.connectionTimeoutMs);
    else this.#socket.destroy();
  }

  #handOver(bytes: Buffer | undefined): void {
    const socket = this.#socket;
    socket.setTimeout(0);
    socket.pause(); // Resumed at the end: a flowing socket need not emit bytes that are put back.
    for (const [name, listener] of this.#listeners) socket.off(name, listener);
    if (bytes !== undefined) socket.unshift(bytes);
    this.#serving.handOver(socket);
    socket.resume();
  }

  #wait(ms: number): void {
    if (this.#socket.timeout !== ms) this.#socket.setTimeout(ms);
  }
}
