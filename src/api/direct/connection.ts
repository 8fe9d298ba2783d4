// A connection that is read and answered here, a request at a time, for as long as all that comes is plain.
// Anything else, and whoever takes his time, goes to Node's HTTP server with the connection, and stays there.
import type { Socket } from 'node:net';
import { limits } from '../../core/limits.ts';
import { WholeReader, type WholeRequest } from './read-whole.ts';

export interface Answer {
  text: string;
  encoding: 'latin1' | 'utf8';
  /** Nothing more is answered on the connection. */
  isLast: boolean;
  /** It has left, or nobody is there to read it. */
  onSent: () => void;
}

export interface Serving {
  /** Undefined when it is for somebody else. */
  serve(request: WholeRequest, socket: Socket): Promise<Answer> | undefined;
  /** Takes the connection, with all that was not answered put back. */
  handOver(socket: Socket): void;
  /** The connection has ended within a request. */
  breakOff(socket: Socket): void;
  /** An answer could not be given: a mistake of ours. The connection is cut. */
  onError(error: unknown): void;
}

/** `fresh`: it has asked nothing yet. `closing`: busy for the last time. `over`: it was told the last thing. */
type State = 'fresh' | 'idle' | 'busy' | 'closing' | 'over';

/** No earlier than was promised. */
const idleTimesMax = Math.ceil(limits.keepAliveTimeoutMs / limits.connectionTimeoutMs);

export class DirectConnection {
  readonly #socket: Socket;
  readonly #serving: Serving;
  readonly #reader = new WholeReader();
  readonly #listeners: readonly (readonly [string, (piece: Buffer) => void])[];
  #state: State = 'fresh';
  /** The beginning of a request, and in how many pieces it came. */
  #begun: Buffer | undefined;
  #pieces = 0;
  #hasEnded = false;
  /** How often nothing came in time since it was answered. */
  #idleTimes = 0;

  constructor(socket: Socket, serving: Serving) {
    this.#socket = socket;
    this.#serving = serving;
    this.#listeners = [
      ['data', (piece) => this.#read(piece)],
      ['end', () => this.#end()],
      ['timeout', () => this.#giveUp()],
      ['error', () => undefined], // It closes the socket, and whoever counts connections hears of that.
    ];
    for (const [name, listener] of this.#listeners) socket.on(name, listener);
    this.#wait(limits.directWaitMs);
  }

  /** Ends it, when what is under way is answered. */
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
        // One request at a time. It is put back, so that the end of the connection is not told before it.
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
    // Whoever does not take his answer is not read either.
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
      // Cut off at once while more comes in, it might not read what it was told last.
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

  /** Nothing has come or left for a while. */
  #giveUp(): void {
    if (this.#state === 'fresh' || this.#begun !== undefined) {
      this.#handOver(this.#begun);
      return;
    }
    // One time for both, who takes no answer and who asks nothing: to set another for each request costs more.
    this.#idleTimes += 1;
    const isIdle = this.#state === 'idle' && this.#idleTimes < idleTimesMax;
    if (isIdle) this.#socket.setTimeout(limits.connectionTimeoutMs);
    else this.#socket.destroy();
  }

  #handOver(bytes: Buffer | undefined): void {
    const socket = this.#socket;
    socket.setTimeout(0);
    socket.pause(); // And resumed at the end: a socket that flows need not notice what is put back.
    for (const [name, listener] of this.#listeners) socket.off(name, listener);
    if (bytes !== undefined) socket.unshift(bytes);
    this.#serving.handOver(socket);
    socket.resume();
  }

  #wait(ms: number): void {
    if (this.#socket.timeout !== ms) this.#socket.setTimeout(ms);
  }
}
