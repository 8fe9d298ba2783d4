// A channel reads the changes of one app from the feed once and hands them to all clients that
// watch the app. Nothing is queued: a slow client is skipped and gets the frames that it missed
// merged into one.
import type { World } from '../../core/base/world.ts';
import { parseDeliveryId } from '../../core/domain/delivery.ts';
import {
  emptyDigest,
  mergeDigests,
  readDigest,
  type Digest,
} from '../../core/domain/change-digest.ts';
import { limits } from '../../core/limits/limits.ts';
import { pendingOf } from '../../core/telemetry/statistics.ts';
import type { Delivery } from '../../store/port/delivery-verbs.ts';
import type { FeedRow } from '../../store/port/feed-verbs.ts';
import type { Store } from '../../store/port/store.ts';
import { frameOf, mergeFrames, type ChangedObjects, type Frame } from './frame.ts';

export interface ChannelDeps {
  appNo: number;
  world: World;
  store: Pick<Store, 'read' | 'nowMs' | 'isShared'>;
  onError: (error: unknown) => void;
}

/** A client, as seen by the channel. */
export interface Listener {
  /** Whether it has read its last frame, so that it can take another one. */
  isReady(): boolean;
  take(frame: Frame): void;
}

export interface Client {
  listener: Listener;
  /** Where it wants to resume; `unknown`: at a cursor that cannot be read. */
  resume: FeedCursor | 'unknown' | undefined;
  missed: Frame | undefined;
  /** Monotonic time of its last frame. */
  sentMs: number;
}

/** `lastEventId`: the id of the last frame that the client received. */
export function clientOf(listener: Listener, lastEventId: string | undefined): Client {
  const resume = lastEventId === undefined ? undefined : (readCursor(lastEventId) ?? 'unknown');
  return { listener, resume, missed: undefined, sentMs: -Infinity };
}

/** 100 open streams do not measurably slow deliveries down (docs/performance.md). */
export class Channel {
  readonly #deps: ChannelDeps;
  readonly #stop = new AbortController();
  readonly #clients = new Set<Client>();
  readonly #joining = new Set<Client>();
  #wake = new AbortController();
  /** The last row of each node that the clients have seen, and when it was read. */
  #position: FeedCursor = { atMs: 0, heads: new Map() };
  /** The feed may have new rows, or a client is ready for the frame that it missed. */
  #isReadRequested = false;
  #nextMs = -Infinity;
  #running: Promise<void> | undefined;

  constructor(deps: ChannelDeps) {
    this.#deps = deps;
  }

  /** Starts at the present end of the feed. */
  async start(): Promise<void> {
    const { store, appNo } = this.#deps;
    const atMs = store.nowMs();
    const { heads } = await store.read('feed', { appNo, after: undefined, limit: 1 });
    this.#position = { atMs, heads: latestHeads(new Map(), heads) };
    this.#running = this.#run();
  }

  join(client: Client): void {
    this.#joining.add(client);
    this.#wake.abort();
  }

  leave(client: Client): void {
    this.#joining.delete(client);
    this.#clients.delete(client);
  }

  /**
   * Call when rows were written to the feed, or when a client that missed a frame is ready again.
   */
  requestRead(): void {
    this.#isReadRequested = true;
    this.#wake.abort();
  }

  /** The cursor of a client that has missed nothing. */
  cursor(): string {
    const { store } = this.#deps;
    // If no other node writes, there is nothing to read until `ask` is called.
    const isNow = !store.isShared && !this.#isReadRequested;
    return writeCursor(isNow ? { ...this.#position, atMs: store.nowMs() } : this.#position);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { world, onError } = this.#deps;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      this.#wake = new AbortController();
      try {
        if (this.#joining.size > 0) await this.#sendFirstFrames();
        if (this.#isDue()) await this.#readNewRows();
      } catch (error) {
        onError(error);
        this.#isReadRequested = true; // The rows are still to be read.
        await world.sleep(limits.streamAgainMs, signal).catch(() => undefined); // Stopped.
        continue;
      }
      const either = AbortSignal.any([signal, this.#wake.signal]);
      await world.sleep(this.#restMs(), either).catch(() => undefined); // Stopped or woken.
    }
  }

  /**
   * Other nodes do not announce their rows, so with several nodes the feed is polled every turn.
   */
  #isDue(): boolean {
    const isTime = this.#deps.world.monotonicMs() >= this.#nextMs;
    return isTime && (this.#isReadRequested || this.#deps.store.isShared);
  }

  #restMs(): number {
    const { world, store } = this.#deps;
    const untilTurnMs = Math.max(this.#nextMs - world.monotonicMs(), 0);
    if (this.#isReadRequested || store.isShared) return Math.ceil(untilTurnMs);
    return limits.watchLeaseMs;
  }

  /** Sends new clients their first frame at once. */
  async #sendFirstFrames(): Promise<void> {
    const joining = [...this.#joining];
    const pending = await this.#pending();
    const moment = { cursor: this.cursor(), atMs: this.#deps.store.nowMs(), pending };
    for (const client of joining) {
      const digest = await this.#missedSince(client.resume);
      this.#addClient(client, frameOf(moment, digest, await this.#readChanged(digest)));
    }
  }

  #addClient(client: Client, frame: Frame): void {
    if (!this.#joining.delete(client)) return; // It left in the meantime.
    this.#clients.add(client);
    client.sentMs = this.#deps.world.monotonicMs();
    client.listener.take(frame);
  }

  /** The changes between the cursor of a returning client and the position of all other clients. */
  async #missedSince(resume: Client['resume']): Promise<Digest> {
    const { store, appNo } = this.#deps;
    const unknown = { ...emptyDigest, isReset: true };
    if (resume === undefined) return emptyDigest;
    if (resume === 'unknown') return unknown;
    const ageMs = store.nowMs() - resume.atMs;
    if (ageMs >= limits.feedKeepMs) return unknown;
    const limit = limits.feedRowsMax;
    const { rows } = await store.read('feed', { appNo, after: resume.heads, limit });
    if (isTruncated(rows)) return unknown;
    const { heads } = this.#position;
    return mergeRows(rows.filter(({ node, seq }) => seq <= (heads.get(node) ?? 0)));
  }

  /** Reads new rows and sends them to all clients. */
  async #readNewRows(): Promise<void> {
    const { store, appNo, world } = this.#deps;
    this.#isReadRequested = false;
    const atMs = store.nowMs();
    const input = { appNo, after: this.#position.heads, limit: limits.feedRowsMax };
    const { heads, rows } = await store.read('feed', input);
    const digest = mergeRows(rows);
    const frame = rows.length === 0 ? undefined : await this.#frame({ atMs, heads }, digest);
    // Moves on only after success, so that rows whose frame failed are read again.
    this.#position = { atMs, heads: latestHeads(this.#position.heads, heads) };
    this.#broadcast(frame);
    this.#nextMs = world.monotonicMs() + limits.frameEveryMs;
  }

  async #frame({ atMs, heads }: FeedCursor, digest: Digest): Promise<Frame> {
    const [found, pending] = await Promise.all([this.#readChanged(digest), this.#pending()]);
    const cursor = writeCursor({ atMs, heads: latestHeads(this.#position.heads, heads) });
    return frameOf({ cursor, atMs, pending }, digest, found);
  }

  #broadcast(frame: Frame | undefined): void {
    const nowMs = this.#deps.world.monotonicMs();
    for (const client of this.#clients) {
      const { missed, sentMs, listener } = client;
      const due =
        frame !== undefined && missed !== undefined
          ? mergeFrames(missed, frame)
          : (frame ?? missed);
      if (due === undefined) continue;
      const isEarly = nowMs - sentMs < limits.frameEveryMs;
      // A client that just had its first frame gets the next one at the next turn.
      if (isEarly) this.#isReadRequested = true;
      if (isEarly || !listener.isReady()) {
        client.missed = due;
        continue;
      }
      client.missed = undefined;
      client.sentMs = nowMs;
      listener.take(due);
    }
  }

  async #readChanged(digest: Digest): Promise<ChangedObjects> {
    const { store, appNo } = this.#deps;
    const [deliveries, ...replays] = await Promise.all([
      this.#deliveries(digest),
      ...digest.replays.map(async (id) => store.read('replay', { appNo, id })),
    ]);
    return { deliveries, replays: replays.filter((replay) => replay !== undefined) };
  }

  async #deliveries({ deliveries }: Digest): Promise<readonly Delivery[]> {
    const { store, appNo } = this.#deps;
    const names = deliveries.flatMap((id) => parseDeliveryId(id) ?? []);
    return names.length === 0 ? [] : store.read('deliveriesNamed', { appNo, names });
  }

  async #pending(): Promise<number> {
    const { store, appNo } = this.#deps;
    return pendingOf(await store.read('counts', { appNo }));
  }
}

function mergeRows(rows: readonly FeedRow[]): Digest {
  const digests = rows.map(({ digest }) => readDigest(digest));
  const digest = digests.reduce(mergeDigests, emptyDigest);
  return isTruncated(rows) ? { ...digest, isReset: true } : digest;
}

/** Whether a node has more rows than were read. */
function isTruncated(rows: readonly FeedRow[]): boolean {
  const nodes = Map.groupBy(rows, ({ node }) => node).values();
  return nodes.some((some) => some.length === limits.feedRowsMax);
}

// The position of a client in the feed as text: a time, and the last row of each node. Opaque to
// clients.

interface FeedCursor {
  /** By the store's clock: rows written later than this may not have been seen. */
  atMs: number;
  heads: ReadonlyMap<number, number>;
}

const cursorPattern = /^([0-9]{1,15})((?:_[0-9]{1,15}-[0-9]{1,15})*)$/;

function writeCursor({ atMs, heads }: FeedCursor): string {
  return [atMs, ...[...heads].map(([node, seq]) => `${node}-${seq}`)].join('_');
}

/** Undefined if the text is not a cursor. */
function readCursor(text: string): FeedCursor | undefined {
  const found = cursorPattern.exec(text);
  if (found?.[1] === undefined) return undefined;
  const pairs = (found[2] ?? '').split('_').slice(1);
  if (pairs.length > limits.feedNodesMax) return undefined;
  const heads = new Map(
    pairs.map((pair) => {
      const [node, seq] = pair.split('-').map(Number);
      return [node ?? 0, seq ?? 0];
    }),
  );
  return { atMs: Number(found[1]), heads };
}

/**
 * The last row read of each node. Of too many nodes it keeps those with the highest numbers, which
 * are the newest.
 */
function latestHeads(
  from: ReadonlyMap<number, number>,
  to: ReadonlyMap<number, number>,
): Map<number, number> {
  const all = [...new Map([...from, ...to])].sort(([a], [b]) => a - b);
  return new Map(all.slice(-limits.feedNodesMax));
}
