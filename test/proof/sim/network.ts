// The network of a simulation: receivers that accept, fail, send Retry-After, hang, lose their response, are dead for a
// while, or respond with 410; and a sender for each node, which replaces src/egress.
import type { Header } from '../../../src/core/domain/attempt.ts';
import type { SenderResult, SendOptions, SendRequest } from '../../../src/egress/http/exchange.ts';
import type { Sender } from '../../../src/egress/http/send.ts';
import type { Send } from '../invariants/history.ts';
import type { Chance } from './chance.ts';
import type { Clock, Mortal, Step } from './clock.ts';
import type { Counters } from './counters.ts';
import type { Plan } from './plan.ts';

export interface Receiver {
  url: string;
  deadUntilMs: number;
  /** Consecutive failures. */
  failures: number;
}

export interface Network {
  receivers: readonly Receiver[];
  sends: Send[];
  isHealed: boolean;
  /** Requests of a subscription in flight. */
  inFlight(subscription: string): number;
  senderOf(node: NetworkNode): Sender;
}

export interface NetworkNode extends Mortal {
  /** The number of the current incarnation. */
  no: () => number;
  wallMs: () => number;
}

export interface NetworkDeps {
  plan: Plan;
  clock: Clock;
  chance: Chance;
  counters: Counters;
}

export function simulatedNetwork(deps: NetworkDeps): Network {
  const { plan, clock } = deps;
  const receivers = Array.from({ length: plan.receivers }, (_, at) => ({
    url: `http://127.0.0.1:${9000 + at}/r`,
    deadUntilMs: 0,
    failures: 0,
  }));
  const sends: Send[] = [];
  const network: Network = {
    receivers,
    sends,
    isHealed: false,
    inFlight: (subscription) =>
      sends.filter(
        (one) =>
          one.subscription === subscription &&
          one.startedMs !== undefined &&
          one.seen === 'nothing' &&
          (one.repliedMs ?? 0) > clock.nowMs,
      ).length,
    senderOf: (node) => ({
      send: async (request, options) =>
        new Sending({ ...deps, network, node }, request).run(options),
      print: () => undefined,
      close: async () => undefined,
      count: () => ({ sending: 0, origins: 0, open: 0, idle: 0 }),
    }),
  };
  return network;
}

class Sending {
  readonly #deps: NetworkDeps & { network: Network; node: NetworkNode };
  readonly #request: SendRequest;
  readonly #send: Send;
  #step: Step | undefined;
  #finish: (result: SenderResult) => void = () => undefined;

  constructor(deps: NetworkDeps & { network: Network; node: NetworkNode }, request: SendRequest) {
    this.#deps = deps;
    this.#request = request;
    const { node } = deps;
    const header = (name: string): string => headerOf(request.headers, name);
    this.#send = {
      node: node.name,
      incarnation: node.no(),
      delivery: header('ringback-delivery'),
      event: header('webhook-id'),
      subscription: header('ringback-subscription'),
      attempt: Number(header('ringback-attempt')),
      timestampS: Number(header('webhook-timestamp')),
      wallS: Math.floor(node.wallMs() / 1000),
      signature: header('webhook-signature'),
      body: Buffer.from(request.body).toString('latin1'),
      url: request.url,
      startedMs: undefined,
      reply: undefined,
      repliedMs: undefined,
      seen: 'nothing',
      seenMs: undefined,
      retryAfterMs: undefined,
    };
  }

  async run({ signal, onStart }: SendOptions = {}): Promise<SenderResult> {
    if (signal?.aborted === true) return { kind: 'aborted', started: false };
    const { promise, resolve } = Promise.withResolvers<SenderResult>();
    const onAbort = (): void => {
      const started = this.#send.startedMs !== undefined;
      if (started) this.#see('aborted');
      this.#finish({ kind: 'aborted', started });
    };
    this.#finish = (result) => {
      if (this.#step !== undefined) this.#deps.clock.cancel(this.#step);
      signal?.removeEventListener('abort', onAbort);
      resolve(result);
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#connect(onStart);
    return promise;
  }

  #connect(onStart: (() => boolean) | undefined): void {
    const { chance, network, plan, clock, node } = this.#deps;
    const { timeoutMs } = this.#request;
    const isSlow = !network.isHealed && chance.isLucky(plan.network.slowConnects);
    const connectMs = isSlow ? chance.between(10, 3_000) : chance.between(0.1, 5);
    if (connectMs >= timeoutMs) {
      this.#later(timeoutMs, () => this.#fail('timeout'));
      return;
    }
    const isRefused = !network.isHealed && chance.isLucky(plan.network.refused);
    this.#later(connectMs, () => {
      const receiver = this.#receiver();
      if (isRefused || (receiver.deadUntilMs > clock.nowMs && chance.isLucky(0.5))) {
        this.#fail('refused');
        return;
      }
      if (onStart?.() === false) {
        this.#deps.counters.stoppedAtGate += 1;
        this.#finish({ kind: 'not_started', reason: 'declined' });
        return;
      }
      this.#send.startedMs = clock.nowMs;
      network.sends.push(this.#send);
      clock.note(`${node.name} sends ${this.#named()}`);
      this.#receive(receiver, timeoutMs - connectMs);
    });
  }

  #receive(receiver: Receiver, leftMs: number): void {
    const { chance, network, plan, clock, counters } = this.#deps;
    const isHarmless = network.isHealed;
    const { lost, hangs, slow } = plan.network;
    const status = this.#status(receiver);
    this.#send.reply = status;
    counters.attempts += 1;
    if (receiver.failures >= 10) counters.probes += 1;
    receiver.failures = status < 300 ? 0 : receiver.failures + 1;
    const isSlow = !isHarmless && chance.isLucky(slow);
    const answerMs = isSlow ? chance.between(100, leftMs * 0.9) : chance.between(0.2, 20);
    const isHanging = !isHarmless && chance.isLucky(hangs);
    const isLost = !isHarmless && chance.isLucky(lost);
    this.#send.repliedMs = clock.nowMs + (isHanging ? leftMs : answerMs);
    if (isHanging) {
      counters.hangs += 1;
      this.#later(leftMs, () => this.#fail('timeout'));
      return;
    }
    if (isLost) counters.lostResponses += 1;
    const headers = this.#headers(status);
    this.#later(Math.min(answerMs, leftMs), () => {
      if (isLost) this.#fail('reset');
      else {
        this.#see('answer');
        const body = new Uint8Array();
        this.#finish({ kind: 'answered', status, headers, body, cut: false });
      }
    });
  }

  #status(receiver: Receiver): number {
    const { chance, network, plan, clock, counters } = this.#deps;
    if (network.isHealed) return 200;
    if (receiver.deadUntilMs > clock.nowMs) return 503;
    if (chance.isLucky(plan.network.gone)) {
      counters.goneAnswers += 1;
      return 410;
    }
    return chance.isLucky(plan.network.failing) ? chance.pick([500, 404, 429, 302]) : 200;
  }

  #headers(status: number): Header[] {
    const { chance, network, plan, clock, counters } = this.#deps;
    if (network.isHealed || status < 400 || status === 410) return [];
    if (!chance.isLucky(plan.network.asksForTime)) return [];
    const seconds = chance.whole(1, 20);
    this.#send.retryAfterMs = seconds * 1000;
    counters.retryAfter += 1;
    clock.note(`${this.#send.delivery} gets Retry-After ${seconds} s`);
    return [['retry-after', String(seconds)]];
  }

  #receiver(): Receiver {
    const found = this.#deps.network.receivers.find(({ url }) => this.#send.url === url);
    if (found === undefined) throw new Error(`Cannot find a receiver at ${this.#send.url}`);
    return found;
  }

  #fail(error: 'timeout' | 'refused' | 'reset'): void {
    const { clock, network, node } = this.#deps;
    if (this.#send.startedMs === undefined) {
      clock.note(`${node.name} cannot send ${this.#named()}: ${error}`);
      network.sends.push(this.#send);
    }
    this.#see('failure');
    this.#finish({ kind: 'failed', error, message: error });
  }

  #named(): string {
    const { delivery, attempt, subscription } = this.#send;
    return `${delivery} attempt ${attempt} for ${subscription}`;
  }

  #see(seen: Send['seen']): void {
    this.#send.seen = seen;
    this.#send.seenMs = this.#deps.clock.nowMs;
  }

  #later(ms: number, run: () => void): void {
    this.#step = this.#deps.clock.afterIn(this.#deps.node, ms, run);
  }
}

function headerOf(headers: readonly string[], name: string): string {
  return headers[headers.indexOf(name) + 1] ?? '';
}
