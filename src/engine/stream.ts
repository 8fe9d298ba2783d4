// The hub of the live view: who watches what on this node. Clients of one app share a channel. It ends
// with a word to each of them, and never waits for one that does not listen.
import { limits } from '../core/limits.ts';
import { Problem } from '../core/problem.ts';
import type { World } from '../core/world.ts';
import type { Store } from '../store/store.ts';
import { Channel, clientOf, type Client, type Listener } from './channel.ts';
import type { Feed } from './feed.ts';

export interface HubMeans {
  world: World;
  store: Pick<Store, 'read' | 'nowMs' | 'isShared'>;
  feed: Pick<Feed, 'watch' | 'unwatch' | 'whenWritten'>;
  onError: (error: unknown) => void;
}

export interface Watcher extends Listener {
  /** The key that it came with still opens this door. */
  isWelcome(): Promise<boolean>;
  /** A sign of life. `cursor`: where it stands now, if it has missed nothing. */
  stillHere(cursor: string | undefined): void;
  /** The last word, after which it may come back. */
  bye(): void;
  /** At once, whether it has heard that or not. */
  cut(): void;
}

export interface OpenInput {
  appNo: number;
  /** What the client says that it had last. */
  lastEventId: string | undefined;
}

/** How a watcher tells the hub what became of it. */
export interface Seat {
  /** It can take more. */
  ready(): void;
  leave(): void;
}

interface Open {
  channel: Channel;
  started: Promise<void>;
  watchers: Map<Watcher, Client>;
}

export class StreamHub {
  readonly #means: HubMeans;
  readonly #stop = new AbortController();
  readonly #open = new Map<number, Open>();
  readonly #done: Promise<void>;
  #count = 0;
  #onEmpty: () => void = () => undefined;

  constructor(means: HubMeans) {
    this.#means = means;
    means.feed.whenWritten((appNo) => this.#open.get(appNo)?.channel.ask());
    this.#done = this.#attend();
  }

  /** Streams that are open. */
  get size(): number {
    return this.#count;
  }

  /** Throws a Problem when there are too many, or StoreUnavailable. */
  async open(watcher: Watcher, { appNo, lastEventId }: OpenInput): Promise<Seat> {
    this.#refuse(appNo);
    const open = this.#open.get(appNo) ?? this.#begin(appNo);
    const client = clientOf(watcher, lastEventId);
    open.watchers.set(watcher, client);
    this.#count += 1;
    const seat = {
      ready: () => {
        if (client.missed !== undefined) open.channel.ask();
      },
      leave: () => this.#leave(appNo, open, watcher),
    };
    try {
      await open.started;
      this.#refuseWhenStopped();
    } catch (error) {
      seat.leave();
      throw error;
    }
    open.channel.join(client);
    return seat;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { world } = this.#means;
    this.#stop.abort();
    await this.#done;
    const all = [...this.#open.values()].flatMap(({ watchers }) => [...watchers.keys()]);
    const empty = Promise.withResolvers<void>();
    this.#onEmpty = empty.resolve;
    if (this.#count === 0) return;
    for (const watcher of all) watcher.bye();
    const patience = new AbortController();
    const enough = world.sleep(limits.streamByeMs, patience.signal).catch(() => undefined);
    await Promise.race([empty.promise, enough]);
    patience.abort();
    for (const watcher of all) watcher.cut();
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

  #begin(appNo: number): Open {
    const { feed, ...means } = this.#means;
    const channel = new Channel({ ...means, appNo });
    // In this order: what is noted from now on comes after the place where the channel begins.
    const started = feed.watch(appNo).then(async () => channel.start());
    const open = { channel, started, watchers: new Map<Watcher, Client>() };
    this.#open.set(appNo, open);
    return open;
  }

  #leave(appNo: number, { channel, watchers }: Open, watcher: Watcher): void {
    const client = watchers.get(watcher);
    if (client === undefined) return;
    watchers.delete(watcher);
    channel.leave(client);
    this.#count -= 1;
    if (watchers.size === 0) this.#end(appNo).catch(this.#means.onError);
    if (this.#count === 0) this.#onEmpty();
  }

  async #end(appNo: number): Promise<void> {
    const open = this.#open.get(appNo);
    if (open === undefined) return;
    this.#open.delete(appNo);
    this.#means.feed.unwatch(appNo);
    await open.started.catch(() => undefined); // Whoever opened it has heard.
    await open.channel[Symbol.asyncDispose]();
  }

  /** Signs of life, and no more of them for those whose key has lost its power. */
  async #attend(): Promise<void> {
    const { world } = this.#means;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await world.sleep(limits.streamStillHereMs, signal).catch(() => undefined); // Stopped.
      if (signal.aborted) return;
      for (const { channel, watchers } of this.#open.values()) {
        const cursor = channel.cursor();
        for (const [watcher, { missed }] of watchers) {
          if (watcher.isReady()) watcher.stillHere(missed === undefined ? cursor : undefined);
          this.#check(watcher);
        }
      }
    }
  }

  /** Who cannot be asked about is sent away as well: it may come back when the store does. */
  #check(watcher: Watcher): void {
    watcher.isWelcome().then(
      (isWelcome) => {
        if (!isWelcome) watcher.bye();
      },
      (error: unknown) => {
        this.#means.onError(error);
        watcher.bye();
      },
    );
  }
}
