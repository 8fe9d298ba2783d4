// Exchanges in the simulation: clients ask for jobs through the gateways of all nodes, or an API registers them itself;
// nodes, the store and the API fail in between. Later the API publishes about the jobs that it accepted.
import assert from 'node:assert/strict';
import { withPrefix } from '../../../src/core/base/id.ts';
import { publish } from '../../../src/engine/publish/publish.ts';
import {
  abandonExchange,
  beginExchange,
  endExchange,
  registerExchange,
  type ExchangeCall,
} from '../../../src/engine/subscribe/exchange.ts';
import { StoreUnavailable } from '../../../src/store/port/store.ts';
import type { Finding } from '../finding.ts';
import type { Flaw } from '../invariants/history.ts';
import { Api, type Job } from './api.ts';
import { seedsForAll } from './batch.ts';
import { readDeliveries } from './database.ts';
import { jobs, type Engine } from './engine.ts';
import { beginFaults, heal } from './faults.ts';
import type { SimulatedNode } from './node.ts';
import { ExternalDeps, triesMax } from './outside-clients.ts';
import { drawPlan, type Plan } from './plan.ts';
import { flawOf, healMs, prepare, startMs, stopMs, stuck, withLimits } from './run.ts';

export interface ExchangeRun {
  flaws: readonly Flaw[];
  counters: ExchangeCounters;
  lines: readonly string[];
}

const noCounters = {
  accepted: 0,
  refused: 0,
  registered: 0,
  /** By the API itself. */
  told: 0,
  unreached: 0,
  /** The gateway never heard what the API answered. */
  unanswered: 0,
  /** The API had accepted, and the store did not take the confirmation. */
  unconfirmed: 0,
  confirmedByPublish: 0,
  lapsed: 0,
  published: 0,
  apiDeaths: 0,
  crashes: 0,
  outages: 0,
};

export type ExchangeCounters = Record<keyof typeof noCounters, number>;

/** A published event, and the only subscription that must get it. */
interface Published {
  event: string;
  job: Job;
}

const requests = 40;
const apiDeathsPerMinute = 3;
const confirmWithinMs = 10 * 60_000;
/** How late the end of an unconfirmed subscription may be. */
const slackMs = 2 * 60_000;

export async function runExchanges(seed: number, linesKept = 200): Promise<ExchangeRun> {
  const plan = planOf(seed);
  return withLimits(plan, async () => new Exchanges(plan, linesKept).run());
}

/** Only what exchanges need: their receivers never end a subscription, and nobody else does. */
function planOf(seed: number): Plan {
  const drawn = drawPlan(seed);
  const { perMinute, network } = drawn;
  const nothing = { unsubscribe: 0, subscribe: 0, edit: 0, redrive: 0, replay: 0 };
  // The clock of a single node decides when a subscription ends.
  const clockStep = drawn.isShared ? perMinute.clockStep : 0;
  return {
    ...drawn,
    subscriptions: 0,
    events: 0,
    perMinute: { ...perMinute, ...nothing, clockStep },
    network: { ...network, gone: 0 },
    limits: { ...drawn.limits, confirmWithinMs },
  };
}

/** Runs these seeds. From `seedsForAll` on, they must have met every counted situation. */
export async function proveExchanges(from: number, seeds: number): Promise<Finding> {
  const sum: Record<string, number> = { ...noCounters };
  const violations: string[] = [];
  for (let seed = from; seed < from + seeds; seed += 1) {
    const { flaws, counters } = await runExchanges(seed);
    for (const [name, count] of Object.entries(counters)) sum[name] = (sum[name] ?? 0) + count;
    violations.push(
      ...flaws.map(({ invariant, what }) => `${invariant}: exchanges, seed ${seed}: ${what}`),
    );
  }
  const unmet = Object.keys(sum).filter((name) => sum[name] === 0 && seeds >= seedsForAll);
  violations.push(...unmet.map((name) => `the whole batch never met "${name}"`));
  return { part: 'simulated exchanges', figures: { seeds, ...sum }, violations };
}

class Exchanges {
  readonly #sim: ReturnType<typeof prepare>;
  readonly #outside: ExternalDeps;
  readonly #api: Api;
  readonly #counters: ExchangeCounters = { ...noCounters };
  readonly #published: Published[] = [];

  constructor(plan: Plan, linesKept: number) {
    this.#sim = prepare(structuredClone(plan), linesKept);
    this.#outside = new ExternalDeps(this.#sim);
    this.#api = new Api(this.#sim, (job) => this.#publishLater(job));
  }

  async run(): Promise<ExchangeRun> {
    const { clock, plan, shared, looks, nodes, flaws, counters } = this.#sim;
    const found: Flaw[] = [];
    for (const node of nodes) node.start();
    const isUp = (): boolean => nodes.every(({ state }) => state === 'up');
    shared.isHealed = true; // No faults until all nodes have started.
    if (!(await clock.runUntil(startMs, isUp))) found.push(stuck('nodes did not start'));
    shared.isHealed = false;
    plan.faultsMs += clock.nowMs;
    this.#begin();
    await clock.runUntil(plan.faultsMs, () => false);
    heal(this.#sim);
    this.#api.heal();
    const isQuiet = (): boolean =>
      this.#outside.open === 0 &&
      nodes.every((one) => one.state === 'up' && !one.isFrozen) &&
      looks.countPending() === 0;
    if (!(await clock.runUntil(plan.faultsMs + healMs, isQuiet))) {
      found.push(
        stuck(`${looks.countPending()} are pending, ${this.#outside.open} calls are open`),
      );
    }
    found.push(...this.#judgeCallbacks());
    const open = this.#unconfirmed();
    await clock.runUntil(clock.nowMs + confirmWithinMs + slackMs, () => false);
    this.#counters.lapsed = open.length;
    const flaw = (id: string): string => `${id} stays unconfirmed beyond its limit`;
    found.push(...this.#unconfirmed().map((id) => ({ invariant: 'I19', what: flaw(id) })));
    let running = nodes.length;
    for (const node of nodes) node.stop(() => (running -= 1));
    if (!(await clock.runUntil(clock.nowMs + stopMs, () => running === 0))) {
      found.push(stuck(`${running} nodes did not stop`));
    }
    found.push(...flaws.map(flawOf));
    shared.sqlite.close();
    const { crashes, outages } = counters;
    return {
      flaws: found,
      counters: { ...this.#counters, crashes, outages },
      lines: clock.lines(),
    };
  }

  #begin(): void {
    const { chance, clock, plan } = this.#sim;
    const nothing = async (): Promise<void> => undefined;
    const exchange = async (): Promise<void> => this.#exchange();
    beginFaults(this.#sim, {
      outside: this.#outside,
      publishers: { publish: exchange }, // Crashes a node shortly after a request.
      subscribers: { subscribe: nothing, unsubscribe: nothing, edit: nothing },
      redrivers: { redrive: nothing, replay: nothing },
    });
    const lastingMs = plan.faultsMs - clock.nowMs;
    for (let count = 0; count < requests; count += 1) {
      const act = chance.isLucky(0.8) ? exchange : async () => this.#tell();
      clock.after(chance.between(0, lastingMs), () => this.#outside.begin(act));
    }
    if (plan.isCalm) return;
    for (let left = (lastingMs / 60_000) * apiDeathsPerMinute; left > 0; left -= 1) {
      clock.after(chance.between(0, lastingMs), () => {
        this.#counters.apiDeaths += 1;
        this.#api.die(chance.between(100, 5_000));
      });
    }
  }

  /** As the gateway does it: begin, the API, end. A client without an answer does not repeat its request. */
  async #exchange(): Promise<void> {
    const node = await this.#outside.someNode();
    try {
      await node.ask(async (engine) => this.#passOn(engine, node), 20_000);
    } catch (error) {
      this.#outside.failed(error);
    }
  }

  async #passOn({ context }: Engine, node: SimulatedNode): Promise<void> {
    const begun = await beginExchange(context, this.#call(context));
    assert(begun, 'the request has a callback URL');
    const reply = await this.#api.request(node, withPrefix('sub', begun.id));
    try {
      if (reply.kind === 'unreached') {
        this.#counters.unreached += 1;
        await abandonExchange(context, begun);
      } else if (reply.kind === 'reset') this.#counters.unanswered += 1;
      else {
        const { status, jobId } = reply;
        const ended = await endExchange(context, begun, { status, message: answerOf(jobId) });
        if (ended.kind === 'nothing') this.#counters.refused += 1;
        else this.#register(jobId);
      }
    } catch (error) {
      // The answer leaves all the same.
      if (!(error instanceof StoreUnavailable)) throw error;
      if (reply.kind === 'answered') this.#counters.unconfirmed += 1;
    }
  }

  #register(jobId: string): void {
    this.#counters.registered += 1;
    const job = this.#api.accepted.find(({ id }) => id === jobId);
    assert(job);
    job.isRegistered = true;
  }

  /** As an API that is its own way in: it has accepted a job, and registers it until that is answered. */
  async #tell(): Promise<void> {
    const id = `told_${this.#counters.told}`;
    this.#counters.told += 1;
    const job: Job = { id, subscription: '', isRegistered: true };
    const { url } = this.#sim.chance.pick(this.#sim.network.receivers);
    const isDone = await this.#outside.insist(triesMax, async ({ context }) => {
      const ended = await registerExchange(context, this.#call(context, url), {
        answer: { status: 201, message: answerOf(id) },
        idempotency: { key: id, operation: 'registerExchange', parts: [url] },
      });
      assert(ended.kind === 'registered', 'the API accepted the request');
      job.subscription = withPrefix('sub', ended.subscription.id);
    });
    if (!isDone) return;
    this.#api.accepted.push(job);
    this.#publishLater(job);
  }

  #call({ defaultApp, newId }: Engine['context'], url?: string): ExchangeCall {
    const { chance, network } = this.#sim;
    const [operation] = jobs.operations;
    assert(operation?.role.kind === 'subscribe');
    const [variant] = operation.role.variants;
    assert(variant);
    const body = { callbackUrl: url ?? chance.pick(network.receivers).url };
    return {
      app: defaultApp,
      contract: jobs.title,
      operation,
      variant,
      request: { header: new Map(), query: new Map(), path: new Map(), body },
      url: 'http://127.0.0.1/jobs',
      resource: undefined,
      requestId: `req_${newId()}`,
    };
  }

  #publishLater(job: Job): void {
    const { chance } = this.#sim;
    if (chance.isLucky(0.1)) return; // Such a subscription may stay unconfirmed.
    this.#outside.begin(async () => {
      await this.#outside.wait(chance.isLucky(0.3) ? 0 : chance.between(0, 60_000));
      await this.#publish(job);
      if (chance.isLucky(0.3)) await this.#publish(job);
    });
  }

  async #publish(job: Job): Promise<void> {
    const { clock, chance } = this.#sim;
    // Who knows only the subject must have heard that the subscription is registered.
    const isById = !job.isRegistered || chance.isLucky(0.5);
    const subject = !isById || chance.isLucky(0.5) ? job.id : undefined;
    const wasOpen = this.#unconfirmed().includes(job.subscription);
    const key = `event-${this.#counters.published}`;
    this.#counters.published += 1;
    let event: string | undefined;
    const isDone = await this.#outside.insist(triesMax, async ({ context }) => {
      const payload = Buffer.from(JSON.stringify({ job: job.id }));
      const named = { name: 'onDone', subject, value: { job: job.id }, payload, at: 'body#' };
      const rules = { contracts: [jobs], isLenient: false };
      const { events } = await publish(context, rules, {
        app: context.defaultApp,
        contract: jobs.title,
        events: [named],
        subscriberId: isById ? job.subscription : undefined,
        hops: 0,
        idempotency: { key, operation: 'publish', parts: [payload] },
      });
      event = events.map(({ id }) => withPrefix('evt', id))[0];
    });
    if (isDone && event !== undefined) {
      clock.note(`${event} is about ${job.id} of ${job.subscription}`);
      if (wasOpen) this.#counters.confirmedByPublish += 1;
      this.#published.push({ event, job });
      return;
    }
    this.#sim.flaws.push(`I19: nothing can be published about ${job.id} of ${job.subscription}`);
  }

  #judgeCallbacks(): Flaw[] {
    const { shared, network } = this.#sim;
    this.#counters.accepted = this.#api.accepted.length;
    const made = Map.groupBy(readDeliveries(shared.db), ({ event }) => event);
    const flaws = this.#published.flatMap(({ event, job }) => {
      const found = (made.get(event) ?? []).map((one) => `${one.subscription}: ${one.state}`);
      const isRight = ['delivered', 'dead'].some(
        (state) => found[0] === `${job.subscription}: ${state}`,
      );
      return isRight && found.length === 1
        ? []
        : [`${event} is about ${job.id} of ${job.subscription}, but has [${found.join()}]`];
    });
    const accepted = new Set(this.#api.accepted.map(({ subscription }) => subscription));
    for (const { subscription } of network.sends) {
      if (!accepted.has(subscription))
        flaws.push(`${subscription} is called, but the API did not accept it`);
    }
    return flaws.map((what) => ({ invariant: 'I19', what }));
  }

  #unconfirmed(): string[] {
    return this.#sim.shared.db
      .prepare(
        "select id from subscription where confirm_by_ms is not null and state <> 'ended' order by id",
      )
      .all()
      .map((row) => withPrefix('sub', String(row['id'])));
  }
}

function answerOf(jobId: string): ExchangeCall['request'] {
  return { header: new Map(), query: new Map(), path: new Map(), body: { jobId } };
}
