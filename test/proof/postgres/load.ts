// Publishers who go on whatever happens to the database, and the receiver of what they publish. Each number
// is one event: half of them carry a key and are repeated until they are accepted, the others are given up
// when they are refused. It only notes; judge.ts says what was wrong.
import { setTimeout as wait } from 'node:timers/promises';
import type { Answer } from '../../api/harness.ts';
import type { Random } from '../../e2e/chaos-plan.ts';
import type { ClusterNode } from '../../e2e/cluster.ts';
import { Lag, nowMs, type Absence } from '../../e2e/event-loop-lag.ts';
import { header, receive, type Receiver } from '../../e2e/receiver.ts';
import { Tally } from '../../e2e/awaitable-count.ts';

/** What one number was answered, in the end. */
export interface Told {
  /** Undefined: refused, and given up. */
  id: string | undefined;
  answeredMs: number;
}

export interface LoadOptions {
  nodes: readonly ClusterNode[];
  random: Random;
  publishersOfNode?: number;
}

/** Longer than the five seconds within which a node answers by itself. */
const silenceMs = 8_000;
const answerMs = 5_000;
const pauseMs = 25;
const missingMax = 48;

export class Load implements AsyncDisposable {
  readonly told = new Map<number, Told>();
  /** When an event came, by its id. */
  readonly arrivals = new Map<string, number[]>();
  readonly flaws: string[] = [];
  /** When the database was not what it should be. */
  readonly faults: Absence[] = [];
  readonly answered = new Tally('events were answered');
  slowestAnswerMs = 0;
  refusals = 0;
  /** Requests that are under way just now. */
  inFlight = 0;
  readonly #options: LoadOptions;
  readonly #receiver: Receiver;
  readonly #lag = new Lag();
  readonly #over = new AbortController();
  /** Accepted, and has not come yet. */
  readonly #missing = new Set<string>();
  #publishing: Promise<unknown> = Promise.resolve();
  #next = 0;
  #heard = Promise.withResolvers<void>();

  constructor(options: LoadOptions, receiver: Receiver) {
    this.#options = options;
    this.#receiver = receiver;
    receiver.script = (request) => {
      const id = header(request, 'webhook-id');
      this.arrivals.set(id, [...(this.arrivals.get(id) ?? []), nowMs()]);
      this.#missing.delete(id);
      this.#heard.resolve();
      this.#heard = Promise.withResolvers();
      return 200;
    };
  }

  get receiverUrl(): string {
    return this.#receiver.url;
  }

  get accepted(): [number, string][] {
    return [...this.told].flatMap(([number, { id }]) => (id === undefined ? [] : [[number, id]]));
  }

  lagAt(atMs: number): number {
    return this.#lag.at(atMs);
  }

  begin(): void {
    const { nodes, publishersOfNode = 8 } = this.#options;
    const all = nodes.flatMap((node) => Array.from({ length: publishersOfNode }, () => node));
    this.#publishing = Promise.all(all.map(async (node) => this.#publishOn(node)));
    this.#publishing.catch(() => undefined);
  }

  /** Publishes one event at a node until it is accepted. Gives its id, unless the time is over. */
  async publishOne(node: ClusterNode, mostMs: number): Promise<string | undefined> {
    return this.#publish(node, this.#takeNumber(), AbortSignal.timeout(mostMs));
  }

  /** Nobody waits for these any more. */
  forget(ids: ReadonlySet<string>): void {
    for (const id of ids) this.#missing.delete(id);
  }

  /** Whether all of these have come, or the time is over. */
  async came(ids: readonly string[], mostMs: number): Promise<boolean> {
    const untilMs = nowMs() + mostMs;
    const missing = (some: readonly string[]): string[] =>
      some.filter((id) => !this.arrivals.has(id));
    for (let left = missing(ids); left.length > 0; left = missing(left)) {
      const leftMs = untilMs - nowMs();
      if (leftMs <= 0) return false;
      await Promise.race([this.#heard.promise, wait(Math.min(leftMs, 200))]);
    }
    return true;
  }

  /** Resolves when nobody publishes any more. */
  async end(): Promise<void> {
    this.#over.abort();
    await this.#publishing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
    this.#lag[Symbol.dispose]();
    await this.#receiver[Symbol.asyncDispose]();
  }

  async #publishOn(node: ClusterNode): Promise<void> {
    while (!this.#over.signal.aborted) {
      const insists = this.#options.random() < 0.5;
      await this.#publish(node, this.#takeNumber(), insists ? this.#over.signal : undefined);
      // A backlog would hide how soon all is well again: who has the database then delivers that first.
      while (this.#missing.size >= missingMax && !this.#over.signal.aborted) {
        await Promise.race([this.#heard.promise, wait(pauseMs)]);
      }
    }
  }

  #takeNumber(): number {
    this.#next += 1;
    return this.#next;
  }

  /** With a signal it carries a key and is repeated, until that says that it is enough. */
  async #publish(
    node: ClusterNode,
    number: number,
    enough: AbortSignal | undefined,
  ): Promise<string | undefined> {
    for (;;) {
      const answer = await this.#ask(node, number, enough !== undefined);
      const id = answer?.status === 202 ? String(answer.json['eventId']) : undefined;
      this.told.set(number, { id, answeredMs: nowMs() });
      if (id !== undefined) {
        if (!this.arrivals.has(id)) this.#missing.add(id);
        this.answered.add();
        return id;
      }
      await wait(pauseMs);
      if (enough?.aborted !== false) return undefined;
    }
  }

  async #ask(node: ClusterNode, number: number, withKey: boolean): Promise<Answer | undefined> {
    const startMs = nowMs();
    this.inFlight += 1;
    try {
      const answer = await node.call({
        method: 'POST',
        path: '/events',
        ...(withKey && { headers: { 'idempotency-key': `number ${number}` } }),
        body: { event: 'order.created', payload: { message: String(number) } },
        signal: AbortSignal.timeout(silenceMs),
      });
      const tookMs = nowMs() - startMs;
      this.slowestAnswerMs = Math.max(this.slowestAnswerMs, tookMs);
      if (tookMs > answerMs + this.lagAt(nowMs())) {
        this.flaws.push(`I12: ${node.name} took ${tookMs} ms to answer ${answer.status}`);
      }
      if (answer.status !== 202) this.#noteRefusal(node, answer);
      return answer;
    } catch (error) {
      this.flaws.push(`I12: ${node.name} did not answer a publish: ${String(error)}`);
      await wait(pauseMs);
      return undefined;
    } finally {
      this.inFlight -= 1;
    }
  }

  /** Only one refusal is right: that the store cannot be reached, with a time to come again. */
  #noteRefusal({ name }: ClusterNode, { status, headers, text }: Answer): void {
    this.refusals += 1;
    const isRight = status === 503 && /^\d+$/.test(headers.get('retry-after') ?? '');
    if (!isRight) this.flaws.push(`I12: ${name} answered a publish with ${status} ${text}`);
  }
}

export async function createLoad(options: LoadOptions): Promise<Load> {
  return new Load(options, await receive());
}
