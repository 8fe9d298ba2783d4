// Fuzzes one service: some thousand requests, each drawn from the seed and its number, with every response checked.
// Then it restarts the service on the same store and compares the counts.
import { seededChance, type Chance } from '../sim/chance.ts';
import { askDoctor } from './doctor.ts';
import { compose, type ComposeDeps } from './compose.ts';
import { readDocument, type Document, type Operation } from './document.ts';
import { kindOfFlaw } from './flaw.ts';
import { heapMiB } from './heap.ts';
import { judge, operationFor } from './judge.ts';
import { learn, type Promised } from './learn.ts';
import { Pool } from './pool.ts';
import { reckon } from './count-acknowledged.ts';
import { mayDo, show, type Caller, type FuzzRequest, type Intent } from './request.ts';
import { shrink } from './shrink.ts';
import { openStage, type Stage } from './stage.ts';
import { makeWild } from './wild.ts';
import { sendOn } from './send-on.ts';
import { openWire, type WireAnswer } from './wire.ts';

export interface LifeOptions {
  seed: number;
  requests: number;
  /** Settings that select the store. */
  store: Readonly<Record<string, string>>;
  /** Runs `ringback doctor` on the store afterwards. */
  isExamined?: boolean;
  /** Measures the memory of the process; requires that no other service runs in it. */
  isWeighed?: boolean;
  /** Operations by operationId; all by default. */
  only?: readonly string[];
}

export interface LifeResult {
  intents: Record<Intent, number>;
  statuses: Map<number, number>;
  /** Operations that got a request, and those that succeeded. */
  asked: Set<string>;
  done: Set<string>;
  accepted: number;
  lost: number;
  deliveries: number;
  /** Growth of memory after the first quarter of the requests, if `isWeighed`. */
  grewMiB: number;
  violations: readonly string[];
}

const tendEvery = 150;
const moveEvery = 1_500;
const moveMs = 20 * 60_000;

export async function runLife(options: LifeOptions): Promise<LifeResult> {
  const { seed, requests, isWeighed = false } = options;
  const found = new Violations(seed);
  await using stage = await openStage({
    store: options.store,
    onViolation: (one) => found.add(one),
  });
  using wire = openWire(stage.service.url);
  const life = newLife(options, stage);
  let warmMiB = 0;
  for (let n = 1; n <= requests; n += 1) {
    found.number = n;
    if (isWeighed && n === Math.ceil(requests / 4)) warmMiB = await heapMiB();
    if (n % tendEvery === 0) await tend(life);
    // Nodes on PostgreSQL use the server's clock, which cannot be moved.
    if (n % moveEvery === 0 && options.store['DATABASE_URL'] === undefined) stage.moveOn(moveMs);
    const request = draw(life, seededChance(seed * 1_000_003 + n));
    const answer = await sendOn(wire, request);
    count(life, request, answer);
    const flaws = judge(life, request, answer);
    if (flaws.length > 0 && found.isNew(flaws, request)) {
      const small = await shrink(request, flaws, async (one) =>
        judge(life, one, await sendOn(wire, one)),
      );
      found.add(`${flaws.join('; ')} — ${request.operation.operationId}, ${show(small)}`);
    }
    if (answer !== undefined) learn(life, request, answer);
  }
  const grewMiB = isWeighed ? Math.max(0, (await heapMiB()) - warmMiB) : 0;
  // Awaited here, before `stage` is disposed of.
  return { ...(await finish(life, found)), grewMiB };
}

interface Life {
  options: LifeOptions;
  document: Document;
  operations: readonly Operation[];
  stage: Stage;
  pool: Pool;
  promised: Map<string, Promised>;
  spared: ReadonlySet<string>;
  result: Pick<LifeResult, 'intents' | 'statuses' | 'asked' | 'done'>;
}

function newLife(options: LifeOptions, stage: Stage): Life {
  const document = readDocument();
  const pool = new Pool();
  for (const { key, app } of stage.callers) {
    pool.own(key.slice(0, 12), app);
    pool.own(app, app);
    pool.learn('app', stage.callers[0]?.app ?? '', app);
    pool.learnText('secret', key);
  }
  return {
    options,
    document,
    operations: document.operations.filter(
      ({ operationId }) => options.only?.includes(operationId) ?? true,
    ),
    stage,
    pool,
    promised: new Map(stage.owners.map(({ app }) => [app, { events: new Map() }])),
    spared: new Set(stage.callers.map(({ key }) => key.slice(0, 12))),
    result: {
      intents: { valid: 0, written: 0, broken: 0, wild: 0 },
      statuses: new Map(),
      asked: new Set(),
      done: new Set(),
    },
  };
}

/** Operations that create state are drawn more often. */
const weights: Readonly<Record<string, number>> = {
  subscribeOperation: 5,
  publishEvent: 9,
  editSubscription: 5,
  publishEvents: 2,
  listDeliveries: 3,
  createReplay: 4,
  retryDelivery: 2,
  cancelReplay: 3,
  createKey: 2,
  registerExchange: 2,
};

function draw(life: Life, chance: Chance): FuzzRequest {
  const { operations, stage, document, pool } = life;
  const weighted = operations.flatMap((one) =>
    Array<Operation>(weights[one.operationId] ?? 1).fill(one),
  );
  const operation = chance.pick(weighted);
  const caller = drawCaller(operation, stage.callers, chance);
  const deps: ComposeDeps = {
    chance,
    document,
    pool,
    caller,
    carrier: operation.session ?? chance.pick(['header', 'header', 'header', 'query', 'cookie']),
    app: caller?.app ?? stage.owners[0]?.app ?? '',
    nowMs: stage.nowMs(),
    urls: stage.urls,
  };
  const luck = chance.next();
  const made = (intent: Exclude<Intent, 'wild'>): FuzzRequest | undefined =>
    compose(operation, intent, deps);
  if (luck < 0.25) return made('broken') ?? drawValid(made);
  if (luck < 0.5) return made('written') ?? drawValid(made);
  const good = drawValid(made);
  return luck < 0.75 ? makeWild(good, chance) : good;
}

function drawValid(made: (intent: 'valid') => FuzzRequest | undefined): FuzzRequest {
  const request = made('valid');
  if (request === undefined) throw new Error('Cannot compose a valid request');
  return request;
}

/** Mostly a caller with permission: requests of others are refused early. */
function drawCaller(
  operation: Operation,
  callers: readonly Caller[],
  chance: Chance,
): Caller | undefined {
  if (chance.isLucky(0.04)) return undefined;
  const able = callers.filter(
    (one) => one.isDead !== true && mayDo(one, operation.scope ?? 'read'),
  );
  return chance.pick(chance.isLucky(0.9) ? able : callers);
}

function count(
  { result, document }: Life,
  request: FuzzRequest,
  answer: WireAnswer | undefined,
): void {
  const { intents, statuses, asked, done } = result;
  intents[request.intent] += 1;
  const operation = operationFor(document, request)?.operationId;
  if (operation !== undefined) asked.add(operation);
  if (answer === undefined) return;
  statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
  if (operation !== undefined && answer.status < 400) done.add(operation);
}

const subscriptionsKept = 12;

/** Keeps the service usable: removes quotas, and ends surplus subscriptions. */
async function tend({ stage }: Life): Promise<void> {
  const { service, owners } = stage;
  for (const { app, key } of owners) {
    const quotas = { subscriptions: null, eventsPerSecond: null, payloadBytes: null };
    await service.call({ method: 'PATCH', path: `/apps/${app}`, body: { quotas } });
    const list = await service.call({ path: '/subscriptions?limit=400&state=active', key });
    const items = (list.json['items'] ?? []) as readonly { id: string }[];
    for (const { id } of items.slice(subscriptionsKept)) {
      await service.call({ method: 'DELETE', path: `/subscriptions/${id}`, key });
    }
  }
}

async function finish(life: Life, found: Violations): Promise<Omit<LifeResult, 'grewMiB'>> {
  const { stage, promised, result, options } = life;
  const isKept = options.store['RINGBACK_DATA'] !== ':memory:';
  const service = isKept ? await stage.reopen() : stage.service;
  let [accepted, lost, deliveries] = [0, 0, 0];
  for (const owner of stage.owners) {
    const books = await reckon(service, owner, {
      events: promised.get(owner.app)?.events ?? new Map(),
      isStill: isKept,
    });
    accepted += books.accepted;
    lost += books.lost;
    deliveries += books.deliveries;
    for (const violation of books.violations) found.add(violation);
  }
  // Only for SQLite in a file: for PostgreSQL there is little to check.
  if (isKept && options.isExamined === true) {
    for (const flaw of await askDoctor(stage.env)) found.add(flaw);
  }
  return { ...result, accepted, lost, deliveries, violations: found.all };
}

/** Keeps one violation of each kind. */
class Violations {
  number = 0;
  #seed: number;
  #texts = new Map<string, string>();
  #counts = new Map<string, number>();

  constructor(seed: number) {
    this.#seed = seed;
  }

  /** Whether this kind of violation is new. */
  isNew(flaws: readonly string[], { operation }: FuzzRequest): boolean {
    return this.#first(`${operation.operationId} ${flaws.map(kindOfFlaw).join()}`);
  }

  add(text: string): void {
    const kind = kindOfFlaw(text);
    const name = text.includes(' — ') ? `${kind} ${this.number}` : kind;
    if (text.includes(' — ') || this.#first(name)) {
      this.#texts.set(name, `${text} (seed ${this.#seed}, request ${this.number})`);
    }
  }

  #first(name: string): boolean {
    const before = this.#counts.get(name) ?? 0;
    this.#counts.set(name, before + 1);
    return before === 0;
  }

  get all(): readonly string[] {
    return [...this.#texts.values()];
  }
}
