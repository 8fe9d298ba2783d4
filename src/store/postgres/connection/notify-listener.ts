// Notifies other nodes that there is work, and receives their notifications. This only adds speed:
// a node without notifications polls a few times a second.
import { limits } from '../../../core/limits/limits.ts';
import type { World } from '../../../core/base/world.ts';
import type { ReconnectingClient } from './reconnecting-client.ts';

export interface NotifyListenerOptions {
  /** For LISTEN alone: it is in use for as long as it is open. */
  listening: ReconnectingClient;
  /** For NOTIFY after the commit: inside a transaction it would serialize all commits. */
  notifying: ReconnectingClient;
  world: Pick<World, 'monotonicMs' | 'sleep' | 'randomBytes'>;
  onNotified: () => void;
}

export const notifySql = {
  // Nothing here must be durable, so the commit does not wait for the disk.
  notify: "select set_config('synchronous_commit', 'off', true), pg_notify($1, $2)",
} as const;

const channel = 'ringback';

export class NotifyListener {
  readonly #options: NotifyListenerOptions;
  readonly #stop = new AbortController();
  readonly #self: string;
  readonly #listening: Promise<void>;
  #notifying: Promise<void> | undefined;
  #isAgain = false;

  constructor(options: NotifyListenerOptions) {
    this.#options = options;
    this.#self = Buffer.from(options.world.randomBytes(8)).toString('hex');
    this.#listening = this.#runLoop();
  }

  /** Notifies all other nodes; many calls are merged into few notifications. */
  notify(): void {
    if (this.#stop.signal.aborted) return;
    if (this.#notifying === undefined) this.#notifying = this.#notifyNow();
    else this.#isAgain = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await Promise.all([this.#options.listening.close(), this.#options.notifying.close()]);
    await Promise.all([this.#notifying, this.#listening]);
  }

  async #notifyNow(): Promise<void> {
    const { notifying, world } = this.#options;
    const { signal } = this.#stop;
    do {
      this.#isAgain = false;
      // A lost notification only delays others until their next poll.
      await notifying
        .use(async (tx) => tx.query(notifySql.notify, [channel, this.#self]))
        .catch(() => undefined);
      await world.sleep(limits.notifyEveryMs, signal).catch(() => undefined);
    } while (this.#isAgain && !signal.aborted);
    this.#notifying = undefined;
  }

  async #runLoop(): Promise<void> {
    const { listening, world, onNotified } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await listening
        .withClient(async (client) => {
          const lost = Promise.withResolvers<void>();
          client.on('end', () => lost.resolve());
          client.on('notification', ({ payload }) => {
            if (payload !== this.#self) onNotified();
          });
          await client.query(`listen ${channel}`);
          onNotified(); // For notifications that were missed.
          await lost.promise;
        })
        .catch(() => undefined);
      listening.drop();
      await world.sleep(limits.listenAgainMs, signal).catch(() => undefined);
    }
  }
}
