// The hub of the live view: which clients watch which app on this node. Clients of one app share a
// channel. At a stop it says goodbye to each client, and never waits for one that does not read.
import { limits } from '../../core/limits/limits.ts';
import { Problem } from '../../core/errors/problem.ts';
import type { World } from '../../core/base/world.ts';
import type { Store } from '../../store/port/store.ts';
import { Channel, clientOf, type Client, type Listener } from './channel.ts';
import type { Feed } from './feed.ts';

export interface StreamHubDeps {
  world: World;
  store: Pick<Store, 'read' | 'nowMs' | 'isShared'>;
  feed: Pick<Feed, 'watch' | 'unwatch' | 'whenWritten'>;
  onError: (error: unknown) => void;
}

export interface Watcher extends Listener {
  /** Whether the credential that it was opened with is still valid. */
  isStillAllowed(): Promise<boolean>;
  /** A keep-alive. `cursor`: its position, if it has missed nothing. */
  keepAlive(cursor: string | undefined): void;
  /** The last message, after which the client may reconnect. */
  sendGoodbye(): void;
  /** Closes at once, whether or not `bye` was read. */
  destroy(): void;
}

export interface OpenStreamInput {
  appNo: number;
  /** The id of the last frame that the client received. */
  lastEventId: string | undefined;
}

/** How a watcher reports back to the hub. */
export interface StreamHandle {
  /** It can take another frame. */
  ready(): void;
  leave(): void;
}

interface AppStreams {
  channel: Channel;
  started: Promise<void>;
  watchers: Map<Watcher, Client>;
}

export class StreamHub {
  readonly #deps: StreamHubDeps;
  readonly #stop = new AbortController();
  readonly #open = new Map<number, AppStreams>();
  readonly #done: Promise<void>;
  #count = 0;
  #onEmpty: () => void = () => undefined;

  constructor(deps: StreamHubDeps) {
    this.#deps = deps;
    deps.feed.whenWritten((appNo) => this.#open.get(appNo)?.channel.requestRead());
    this.#done = this.#runLoop();
  }

  /** The number of open streams. */
  get size(): number {
    return this.#count;
  }

  /** Throws a Problem if there are too many, or StoreUnavailable. */
  async open(watcher: Watcher, { appNo, lastEventId }: OpenStreamInput): Promise<StreamHandle> {
    this.#refuse(appNo);
    const open = this.#open.get(appNo) ?? this.#begin(appNo);
    const client = clientOf(watcher, lastEventId);
    open.watchers.set(watcher, client);
    this.#count += 1;
    const handle = {
      ready: () => {
        if (client.missed !== undefined) open.channel.requestRead();
      },
      leave: () => this.#leave(appNo, open, watcher),
    };
    try {
      await open.started;
      this.#refuseWhenStopped();
    } catch (error) {
      handle.leave();
      throw error;
    }
    open.channel.join(client);
    return handle;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { world } = this.#deps;
    this.#stop.abort();
    await this.#done;
    const all = [...this.#open.values()].flatMap(({ watchers }) => [...watchers.keys()]);
    const empty = Promise.withResolvers<void>();
    this.#onEmpty = empty.resolve;
    if (this.#count === 0) return;
    for (const watcher of all) watcher.sendGoodbye();
    const patience = new AbortController();
    const enough = world.sleep(limits.streamByeMs, patience.signal).catch(() => undefined);
    await Promise.race([empty.promise, enough]);
    patience.abort();
    for (const watcher of all) watcher.destroy();
    await Promise.all([...this.#open.keys()].map(async (appNo) => this.#end(appNo)));
  }

  #refuse(appNo: number): void {
    this.#refuseWhenStopped();
    const ofApp = this.#open.get(appNo)?.watchers.size ?? 0;
    if (ofApp < limits.streamsPerAppMax && this.#count < limits.streamsMax) return;
    const where = ofApp < limits.streamsPerAppMax ? 'on this node' : 'of this app on this node';
    const [count, most] =
      ofApp < limits.streamsPerAppMax
        ? [this.#count, limits.streamsMax]
        : [ofApp, limits.streamsPerAppMax];
    const detail = `Cannot open a stream: ${count} are open ${where}, expected fewer than ${most}`;
    throw new Problem('too_many_streams', detail);
  }

  #refuseWhenStopped(): void {
    if (!this.#stop.signal.aborted) return;
    throw new Problem('store_unavailable', 'This node is shutting down: try again');
  }

  #begin(appNo: number): AppStreams {
    const { feed, ...deps } = this.#deps;
    const channel = new Channel({ ...deps, appNo });
    // In this order, so that everything recorded from now on comes after the start of the channel.
    const started = feed.watch(appNo).then(async () => channel.start());
    const open = { channel, started, watchers: new Map<Watcher, Client>() };
    this.#open.set(appNo, open);
    return open;
  }

  #leave(appNo: number, { channel, watchers }: AppStreams, watcher: Watcher): void {
    const client = watchers.get(watcher);
    if (client === undefined) return;
    watchers.delete(watcher);
    channel.leave(client);
    this.#count -= 1;
    if (watchers.size === 0) this.#end(appNo).catch(this.#deps.onError);
    if (this.#count === 0) this.#onEmpty();
  }

  async #end(appNo: number): Promise<void> {
    const open = this.#open.get(appNo);
    if (open === undefined) return;
    this.#open.delete(appNo);
    this.#deps.feed.unwatch(appNo);
    await open.started.catch(() => undefined); // The caller of `open` got the error.
    await open.channel[Symbol.asyncDispose]();
  }

  /** Sends keep-alives, and closes the streams of keys that are no longer valid. */
  async #runLoop(): Promise<void> {
    const { world } = this.#deps;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await world.sleep(limits.streamStillHereMs, signal).catch(() => undefined); // Stopped.
      if (signal.aborted) return;
      for (const { channel, watchers } of this.#open.values()) {
        const cursor = channel.cursor();
        for (const [watcher, { missed }] of watchers) {
          if (watcher.isReady()) watcher.keepAlive(missed === undefined ? cursor : undefined);
          this.#check(watcher);
        }
      }
    }
  }

  /**
   * If the key cannot be checked, the stream is closed too: the client may reconnect when the store
   * is back.
   */
  #check(watcher: Watcher): void {
    watcher.isStillAllowed().then(
      (isWelcome) => {
        if (!isWelcome) watcher.sendGoodbye();
      },
      (error: unknown) => {
        this.#deps.onError(error);
        watcher.sendGoodbye();
      },
    );
  }
}
