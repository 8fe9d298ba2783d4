// The nodes of a cluster under faults, with restarts, and a client that switches to another node when one does not
// respond. Every response is checked here, whatever the fault.
import { setTimeout as wait } from 'node:timers/promises';
import type { Answer, Call } from '../api/harness.ts';
import type { Env } from '../cli/ringback-process.ts';
import type { ChaosRecord } from './chaos-record.ts';

import type { Random } from './chaos-plan.ts';
import { startNode, type ClusterNode } from './cluster.ts';
import { nowMs } from './event-loop-lag.ts';

/** One node of the plan, with the process that currently runs under its name, if any. */
export class Slot implements AsyncDisposable {
  readonly name: string;
  readonly #url: string;
  readonly #record: ChaosRecord;
  readonly #env: Env;
  #node: ClusterNode | undefined;
  #starting: Promise<void> | undefined;

  constructor(name: string, deps: { url: string; record: ChaosRecord; env: Env }) {
    this.name = name;
    this.#url = deps.url;
    this.#record = deps.record;
    this.#env = deps.env;
  }

  get node(): ClusterNode | undefined {
    return this.#node;
  }

  /** Concurrent calls start only one process. */
  async start(): Promise<void> {
    this.#starting ??= this.#startNow().finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }

  /** Retries like a process manager, because the database may be down. */
  async #startNow(): Promise<void> {
    while (this.#node === undefined) {
      const startMs = nowMs();
      try {
        const node = await startNode({ url: this.#url, name: this.name, env: this.#env });
        this.#node = node;
        void node.ended.then((code) => {
          if (this.#node !== node) return;
          const last = node.logged().slice(-2_000);
          this.#record.flaws.push(`${this.name} ended by itself with ${code}: ${last}`);
          this.#node = undefined;
        });
      } catch (error) {
        if (!this.#record.outages.some(({ toMs }) => toMs >= startMs)) throw error;
        await wait(200);
      }
    }
  }

  async kill(): Promise<void> {
    const node = this.#node;
    if (node === undefined) return;
    this.#node = undefined;
    this.#record.kills.push({ node: this.name, atMs: nowMs() });
    node.signal('SIGKILL');
    await node.ended;
  }

  /** Stops the process for this time; its sockets stay open. */
  async freeze(forMs: number): Promise<void> {
    const node = this.#node;
    const freeze = { node: this.name, fromMs: nowMs(), toMs: Infinity };
    this.#record.freezes.push(freeze);
    node?.signal('SIGSTOP');
    await wait(forMs);
    freeze.toMs = nowMs();
    node?.signal('SIGCONT');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#starting?.catch(() => undefined);
    const node = this.#node;
    this.#node = undefined;
    await node?.[Symbol.asyncDispose]();
  }
}

/** Longer than the five seconds within which a node must respond. */
const patienceMs = 6_500;

export interface Caller {
  /** Repeats the call, at any node, until it gets one of the expected statuses. */
  insist: (call: Call, expected: readonly number[]) => Promise<Insisted>;
}

export interface Insisted {
  answer: Answer;
  askedMs: number;
  answeredMs: number;
}

export function caller(
  slots: readonly Slot[],
  { record, random }: { record: ChaosRecord; random: Random },
): Caller {
  /** Nodes that did not respond are avoided for a while. */
  const avoidUntilMs = new Map<Slot, number>();
  const choose = (): Slot | undefined => {
    const fine = slots.filter((slot) => {
      return slot.node !== undefined && (avoidUntilMs.get(slot) ?? 0) <= nowMs();
    });
    return fine[Math.floor(random() * fine.length)];
  };
  const ask = async (slot: Slot, node: ClusterNode, call: Call): Promise<Answer | undefined> => {
    const startMs = nowMs();
    try {
      const answer = await node.call({ ...call, signal: AbortSignal.timeout(patienceMs) });
      record.slowestAnswerMs = Math.max(record.slowestAnswerMs, nowMs() - startMs);
      return answer;
    } catch (error) {
      const isSilent = error instanceof Error && error.name === 'TimeoutError';
      avoidUntilMs.set(slot, nowMs() + (isSilent ? 40_000 : 500));
      record.unanswered.lost += 1;
      return undefined;
    }
  };
  return {
    insist: async (call, expected) => {
      const askedMs = nowMs();
      for (;;) {
        const slot = choose();
        const answer = slot?.node && (await ask(slot, slot.node, call));
        const answeredMs = nowMs();
        if (answer !== undefined && expected.includes(answer.status)) {
          return { answer, askedMs, answeredMs };
        }
        if (answer !== undefined) noteRefusal(record, call, answer);
        await wait(50 + random() * 250);
      }
    },
  };
}

/** Valid refusals are 503 with a Retry-After, and 408 if the node was frozen while the request arrived. */
function noteRefusal(record: ChaosRecord, { method = 'GET', path }: Call, answer: Answer): void {
  record.unanswered.refused += 1;
  const isBusy = answer.status === 503 && /^\d+$/.test(answer.headers.get('retry-after') ?? '');
  const isLate = answer.status === 408 && method === 'POST';
  if (!isBusy && !isLate) record.flaws.push(`${method} ${path}: ${answer.status} ${answer.text}`);
}
