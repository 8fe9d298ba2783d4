// An API behind simulated gateways: it records what it accepts before it answers, dies at any moment, and knows a
// subscription only by the id that came with the request. Its record survives its death.
import type { SimulatedNode, Simulation } from './node.ts';

export interface Job {
  id: string;
  /** The subscription of the request, with its prefix. */
  subscription: string;
  /** The gateway registered it, so that its subject is known. */
  isRegistered: boolean;
}

export type Reply =
  | { kind: 'answered'; status: number; jobId: string }
  /** It cannot have received the request. */
  | { kind: 'unreached' }
  /** Nobody knows. */
  | { kind: 'reset' };

const giveUpMs = 5_000;

export class Api {
  readonly accepted: Job[] = [];
  readonly #sim: Simulation;
  readonly #onAccepted: (job: Job) => void;
  #life = 0;
  #deadUntilMs = 0;

  constructor(sim: Simulation, onAccepted: (job: Job) => void) {
    this.#sim = sim;
    this.#onAccepted = onAccepted;
  }

  die(ms: number): void {
    const { clock } = this.#sim;
    clock.note('the API dies');
    this.#life += 1;
    this.#deadUntilMs = clock.nowMs + ms;
  }

  heal(): void {
    this.#deadUntilMs = 0;
  }

  /** A request through the gateway at this node. It arrives even if the node dies meanwhile. */
  async request(node: SimulatedNode, subscription: string): Promise<Reply> {
    const { clock, chance } = this.#sim;
    const { promise, resolve } = Promise.withResolvers<Reply>();
    const reply = (given: Reply): void =>
      void clock.afterIn(node, chance.between(0.1, 2), () => resolve(given));
    clock.afterIn(node, giveUpMs, () => resolve({ kind: 'reset' }));
    clock.after(chance.between(0.1, 2), () => {
      if (this.#deadUntilMs > clock.nowMs) reply({ kind: 'unreached' });
      else this.#work(subscription, reply);
    });
    return promise;
  }

  #work(subscription: string, reply: (given: Reply) => void): void {
    const { clock, chance } = this.#sim;
    const life = this.#life;
    const status = chance.isLucky(0.25) ? chance.pick([400, 409, 503]) : 201;
    const isSlow = chance.isLucky(0.1);
    const step = (): number => (isSlow ? chance.between(0, 4_000) : chance.between(0.1, 20));
    const living = (act: () => void) => () => {
      if (this.#life === life) act();
      else reply({ kind: 'reset' });
    };
    clock.after(
      step(),
      living(() => {
        const jobId = `job_${this.accepted.length}`;
        if (status === 201) {
          const job = { id: jobId, subscription, isRegistered: false };
          this.accepted.push(job);
          clock.note(`the API accepts ${jobId} of ${subscription}`);
          this.#onAccepted(job);
        }
        clock.after(
          step(),
          living(() => reply({ kind: 'answered', status, jobId })),
        );
      }),
    );
  }
}
