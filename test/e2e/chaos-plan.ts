// The plan of a chaos run, drawn from a seed in advance: the same seed gives the same faults, subscriptions and events,
// though not exactly the same run.
import { virtualWorld } from '../engine/virtual-world.ts';

export type Fault =
  | { kind: 'kill'; node: number; atMs: number; downMs: number }
  /** SIGSTOP, for longer than a lease plus its recovery, or only for some seconds. */
  | { kind: 'freeze'; node: number; atMs: number; forMs: number }
  /** All processes of PostgreSQL are killed, and the server is restarted. */
  | { kind: 'outage'; atMs: number; forMs: number };

export type Hears =
  | { variant: 'body' }
  | { variant: 'query'; event: string }
  | { variant: 'multi' };

/** The behaviour of a receiver. */
export type Manner =
  | { kind: 'fast' }
  | { kind: 'slow' }
  /** So slow that a node leases more deliveries for it than it has connections. */
  | { kind: 'stuck' }
  /** Fails every fifth time, and always between these times, which opens its circuit breaker. */
  | { kind: 'flaky'; fromMs: number; toMs: number }
  /** Always rejects some events. */
  | { kind: 'poisoned' }
  /** Sometimes accepts a callback but cuts the connection instead of responding. */
  | { kind: 'cutting' }
  /** Responds with 410 from this time on. */
  | { kind: 'gone'; fromMs: number };

/** The course of one subscription; without `unsubscribeMs` it does not end. */
export interface Life {
  hears: Hears;
  manner: Manner;
  fromMs: number;
  pause: { fromMs: number; toMs: number } | undefined;
  unsubscribeMs: number | undefined;
}

export interface Plan {
  seed: number;
  events: number;
  nodes: number;
  /** How long events are published; all times are relative to its start. */
  loadMs: number;
  faults: readonly Fault[];
  lives: readonly Life[];
}

export const names = [
  'order.created',
  'order.paid',
  'order.shipped',
  'inProgress',
  'failed',
  'success',
] as const;

export type Random = () => number;

/** A separate generator for each purpose, so that more draws for one do not affect the others. */
export function randomOf(seed: number, purpose: number): Random {
  const world = virtualWorld({ seed: seed * 7919 + purpose });
  return () => world.random();
}

const nodes = 3;
const eventsPerRound = 5_000;
/** A lease lasts 30 s and is recovered at most 5 s later, so a round has time for one freeze. */
const roundMs = 40_000;
const frozenMs = 37_000;
/** No later kills, because their leases would last for another 36 s. */
const lastKillMs = 26_000;

export function planOf(seed: number, events: number): Plan {
  const random = randomOf(seed, 1);
  const rounds = Math.max(1, Math.round(events / eventsPerRound));
  const faults: Fault[] = [];
  const lives: Life[] = [...permanent()];
  for (let round = 0; round < rounds; round += 1) {
    faults.push(...faultsOf(round * roundMs, random));
    lives.push(...livesOf(round * roundMs, random));
  }
  return { seed, events, nodes, loadMs: rounds * roundMs, faults, lives };
}

function faultsOf(startMs: number, random: Random): Fault[] {
  const frozen = Math.floor(random() * nodes);
  const others = Array.from({ length: nodes }, (_, node) => node).filter((one) => one !== frozen);
  const faults: Fault[] = [
    { kind: 'freeze', node: frozen, atMs: startMs + 500 + random() * 1_500, forMs: frozenMs },
    // Sometimes longer than nodes query the status of an uncertain commit, sometimes shorter.
    { kind: 'outage', atMs: startMs + 8_000 + random() * 14_000, forMs: 1_000 + random() * 7_000 },
  ];
  // A node that was frozen for a short time still holds its leases, but has missed all changes meanwhile.
  const dozing = others[Math.floor(random() * others.length)] ?? 0;
  const dozeMs = { atMs: startMs + 10_000 + random() * 14_000, forMs: 2_000 + random() * 3_000 };
  faults.push({ kind: 'freeze', node: dozing, ...dozeMs });
  for (let atMs = 3_000 + random() * 4_000; atMs < lastKillMs; atMs += 2_000 + random() * 6_000) {
    const node = others[Math.floor(random() * others.length)] ?? 0;
    faults.push({ kind: 'kill', node, atMs: startMs + atMs, downMs: random() * 2_000 });
  }
  return faults;
}

/** Subscriptions that exist throughout the run, one for each behaviour. */
function permanent(): Life[] {
  const stays = { fromMs: -Infinity, pause: undefined, unsubscribeMs: undefined };
  return [
    { ...stays, hears: { variant: 'body' }, manner: { kind: 'fast' } },
    { ...stays, hears: { variant: 'query', event: 'order.created' }, manner: { kind: 'slow' } },
    {
      ...stays,
      hears: { variant: 'multi' },
      manner: { kind: 'flaky', fromMs: 5_000, toMs: 6_500 },
    },
    { ...stays, hears: { variant: 'query', event: 'order.paid' }, manner: { kind: 'poisoned' } },
    { ...stays, hears: { variant: 'query', event: 'order.shipped' }, manner: { kind: 'cutting' } },
  ];
}

const livesPerRound = 14;

function livesOf(startMs: number, random: Random): Life[] {
  return Array.from({ length: livesPerRound }, () => {
    const fromMs = startMs + random() * 30_000;
    const endMs = fromMs + 3_000 + random() * 12_000;
    const isGone = random() < 0.3;
    const hasPause = random() < 0.5;
    const pauseMs = fromMs + 500 + random() * 1_500;
    const isStuck = !isGone && random() < 0.4;
    const manner: Manner = isGone
      ? { kind: 'gone', fromMs: endMs }
      : { kind: isStuck ? 'stuck' : random() < 0.5 ? 'fast' : 'slow' };
    return {
      hears: isStuck ? { variant: 'body' } : hearsOf(random),
      manner,
      fromMs,
      pause: hasPause ? { fromMs: pauseMs, toMs: pauseMs + 1_300 + random() * 3_000 } : undefined,
      unsubscribeMs: isGone ? undefined : endMs,
    };
  });
}

function hearsOf(random: Random): Hears {
  const chance = random();
  if (chance < 0.15) return { variant: 'body' };
  if (chance < 0.5) return { variant: 'multi' };
  return { variant: 'query', event: names[Math.floor(random() * names.length)] ?? names[0] };
}
