// A connection that reconnects: opened on demand, and dropped when it breaks. It serves one caller
// at a time.
import { Socket } from 'node:net';
import type { Client } from 'pg';
import { limits } from '../../../core/limits/limits.ts';
import { StoreUnavailable } from '../../port/store.ts';
import type { ConnectionKind } from './connect.ts';
import { connect } from './connect.ts';
import { isConnectionLost } from './failure.ts';
import type { Tx } from './tx.ts';
import { txOn } from './tx.ts';

export interface ReconnectingClientOptions {
  url: string;
  kind: ConnectionKind;
  purpose: string;
}

export class ReconnectingClient {
  readonly #options: ReconnectingClientOptions;
  #client: Promise<Client> | undefined;
  #isClosed = false;

  constructor(options: ReconnectingClientOptions) {
    this.#options = options;
  }

  /** Runs statements outside of a transaction. Those asked in one turn form an implicit one. */
  async use<T>(body: (tx: Tx) => Promise<T>): Promise<T> {
    const client = await this.#open();
    return this.#watched(client, async () => body(txOn(client)));
  }

  /** The client itself, for what a `Tx` cannot do: transactions, LISTEN. */
  async withClient<T>(body: (client: Client) => Promise<T>): Promise<T> {
    const client = await this.#open();
    return this.#watched(client, async () => body(client));
  }

  /**
   * Holds back outgoing data until the returned function is called; queries are serialized
   * meanwhile.
   */
  async hold(): Promise<() => void> {
    const client = await this.#client?.catch(() => undefined);
    const stream = client?.connection.stream;
    let isHeld = stream !== undefined;
    stream?.cork();
    return () => {
      if (isHeld) stream?.uncork();
      isHeld = false;
    };
  }

  /** Drops the connection; the next use opens another one. */
  drop(): void {
    const client = this.#client;
    this.#client = undefined;
    client?.then(
      async (open) => end(open).catch(() => undefined),
      () => undefined,
    );
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const client = this.#client;
    this.#client = undefined;
    await client?.then(end, () => undefined);
  }

  async #open(): Promise<Client> {
    if (this.#isClosed) throw new StoreUnavailable('Cannot ask the store: it is closed');
    return this.#client ?? this.#connect();
  }

  /** Keeps the same promise that `forget` compares with, so that a failed one does not stay. */
  async #connect(): Promise<Client> {
    const forget = (): void => {
      if (this.#client === opening) this.#client = undefined;
    };
    const opening: Promise<Client> = connect({
      ...this.#options,
      pipeline: true,
      onLost: forget,
    });
    this.#client = opening;
    opening.catch(forget);
    return opening;
  }

  async #watched<T>(client: Client, body: () => Promise<T>): Promise<T> {
    try {
      return await body();
    } catch (error) {
      if (isConnectionLost(error) && (await this.#client?.catch(() => undefined)) === client) {
        this.drop();
      }
      throw error;
    }
  }
}

/**
 * Closes politely. If the server does not answer, the socket is destroyed, so that a stop does not
 * wait for it.
 */
async function end(client: Client): Promise<void> {
  const { stream } = client.connection;
  if (stream instanceof Socket) stream.setTimeout(limits.databaseGoodbyeMs, () => stream.destroy());
  await client.end();
}
