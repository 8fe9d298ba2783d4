// Load and receivers, and one measurement with them: publish a number of events and wait for the
// last arrival.
import { strict as assert } from 'node:assert';
import { join } from 'node:path';
import type { Contender } from '../contenders/contender.ts';
import { startChild, type ChildProgram } from './child-process.ts';
import type { Load, Loaded } from './load.ts';
import { payloadsIn } from './numbered-payloads.ts';
import type { Answer, Arrivals, Behaviour, Question, SoFar } from './receivers.ts';
import { startedCpu } from './cpu-and-memory.ts';

/** A measurement is given up when nothing has arrived for this long. */
const idleMs = 30_000;

export interface Stage extends AsyncDisposable {
  ports: readonly number[];
  behave(behaviours: readonly Behaviour[]): Promise<void>;
  /** Each this many times; once by default. */
  expect(events: number, times?: number): Promise<void>;
  load(load: Load): Promise<Loaded>;
  /** Waits for all expected events. */
  arrived(): Promise<Arrivals>;
  /** Waits until this many of them have arrived. */
  until(count: number): Promise<SoFar>;
}

export async function openStage(receivers: number): Promise<Stage> {
  await using made = new AsyncDisposableStack();
  const program = (name: string): string => join(import.meta.dirname, name);
  const sink = made.use(startChild<Question, Answer>(program('receivers.ts')));
  const loader = made.use(startChild<Load, Loaded>(program('load.ts')));
  const opened = await sink.ask({ kind: 'open', receivers });
  assert(opened.ports !== undefined);
  const kept = made.move();
  return {
    ports: opened.ports,
    behave: async (behaviours) => void (await sink.ask({ kind: 'behave', behaviours })),
    expect: async (events, times = 1) => void (await sink.ask({ kind: 'expect', events, times })),
    load: async (load) => loader.ask(load),
    arrived: async () => arrivedOf(sink),
    until: async (count) => untilCame(sink, count),
    [Symbol.asyncDispose]: async () => kept.disposeAsync(),
  };
}

async function arrivedOf(sink: ChildProgram<Question, Answer>): Promise<Arrivals> {
  const { arrivals } = await sink.ask({ kind: 'wait', idleMs });
  assert(arrivals !== undefined);
  const { came, expected } = arrivals;
  assert.equal(came, expected, `Only ${came} of ${expected} callbacks have arrived`);
  return arrivals;
}

async function untilCame(sink: ChildProgram<Question, Answer>, count: number): Promise<SoFar> {
  const { soFar } = await sink.ask({ kind: 'until', count, idleMs });
  assert(soFar !== undefined);
  assert(soFar.came >= count, `Only ${soFar.came} of ${count} callbacks have arrived`);
  return soFar;
}

export interface Sending {
  requests: number;
  connections: number;
  perSecond?: number;
  /** See `Load`. */
  warmUpPath?: string;
}

export interface Measured {
  loaded: Loaded;
  arrivals: Arrivals;
  /** From the first request to the last arrival. */
  tookMs: number;
  eventsPerSecond: number;
  /** Of the contender's processes, per event. */
  cpuUs: number;
}

export async function measure(
  stage: Stage,
  { publish, pids }: Contender,
  sending: Sending,
): Promise<Measured> {
  const events = sending.requests * payloadsIn(publish.bodies[0] ?? '');
  await stage.expect(events);
  const cpu = startedCpu(pids);
  const loaded = await stage.load({ ...publish, perSecond: undefined, ...sending });
  const others = Object.keys(loaded.statuses).filter((status) => status !== '202');
  assert.deepEqual(others, [], `Answered with ${JSON.stringify(loaded.statuses)}`);
  const arrivals = await stage.arrived();
  const cpuUs = cpu.usedUs() / events;
  const tookMs = arrivals.lastMs - (loaded.sentMs[0] ?? 0);
  return { loaded, arrivals, tookMs, eventsPerSecond: (events * 1_000) / tookMs, cpuUs };
}

/** From the first request to the last answer, all of them with `status`. */
export async function measureAnswers(
  stage: Stage,
  load: Load,
  { pids, status }: Pick<Contender, 'pids'> & { status: string },
): Promise<{ perSecond: number; cpuUs: number }> {
  const { requests } = load;
  const cpu = startedCpu(pids);
  const { sentMs, answeredMs, statuses } = await stage.load(load);
  assert.deepEqual(statuses, { [status]: requests });
  const tookMs = answeredMs.reduce((one, other) => Math.max(one, other)) - (sentMs[0] ?? 0);
  return { perSecond: (requests * 1_000) / tookMs, cpuUs: cpu.usedUs() / requests };
}
