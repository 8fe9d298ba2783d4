// Whoever stands outside and asks nodes for something: nothing is sure but what was answered.
import { Problem } from '../../../src/core/errors/problem.ts';
import type { Engine } from './engine.ts';
import { StoreUnavailable } from '../../../src/store/port/store.ts';
import { NoAnswer, type SimulatedNode, type Simulation } from './node.ts';

export const triesMax = 60;

export class ExternalDeps {
  /** Calls that somebody waits for. */
  open = 0;
  readonly #sim: Simulation;

  constructor(sim: Simulation) {
    this.#sim = sim;
  }

  /** Something that goes on beside all else. */
  begin(act: () => Promise<void>): void {
    this.open += 1;
    void this.#attend(act);
  }

  async #attend(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      const text = error instanceof Error ? error.stack : String(error);
      this.#sim.flaws.push(`a client failed: ${text}`);
    }
    this.open -= 1;
  }

  /** Whether it was done; a refusal for a reason is as good as done by somebody else. */
  async insist(most: number, act: (engine: Engine) => Promise<void>): Promise<boolean> {
    const { chance } = this.#sim;
    for (let tries = 0; tries < most; tries += 1) {
      const node = await this.someNode();
      try {
        await node.ask(act);
        return true;
      } catch (error) {
        this.failed(error);
        if (error instanceof Problem && error.code !== 'store_unavailable') return false;
      }
      await this.wait(chance.between(100, 2_000));
    }
    return false;
  }

  /** No answer and a refusal are to be expected here; over HTTP anything else would be a 500. */
  failed(error: unknown): void {
    if (error instanceof NoAnswer || error instanceof StoreUnavailable) return;
    if (error instanceof Problem && (error.status < 500 || error.code === 'store_unavailable'))
      return;
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#sim.flaws.push(`a client was answered with: ${text}`);
  }

  async someNode(): Promise<SimulatedNode> {
    const { nodes, chance } = this.#sim;
    for (;;) {
      const up = nodes.filter(({ state }) => state === 'up');
      if (up.length > 0) return chance.pick(up);
      await this.wait(250);
    }
  }

  async wait(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#sim.clock.after(ms, resolve);
    return promise;
  }
}
