// What happens to a cluster and when, decided by a seed before anything starts: the same seed gives the
// same faults, the same subscriptions and the same events, though never quite the same run.
import { virtualWorld } from '../engine/virtual-world.ts';

export type Fault =
  | { kind: 'kill'; node: number; atMs: number; downMs: number }
  /** SIGSTOP: for longer than a lease and a rescue together, or for some seconds only. */
  | { kind: 'freeze'; node: number; atMs: number; forMs: number }
  /** Every process of PostgreSQL is killed, and it is started again. */
  | { kind: 'outage'; atMs: number; forMs: number };

export type Hears =
  | { variant: 'body' }
  | { variant: 'query'; event: string }
  | { variant: 'multi' };

/** How a receiver answers. */
export type Manner =
  | { kind: 'fast' }
  | { kind: 'slow' }
  /** So slow that a node has more for it than connections: many wait between lease and wire. */
  | { kind: 'stuck' }
  /** Fails one time in five, and always between these times, which breaks its lane. */
  | { kind: 'flaky'; fromMs: number; toMs: number }
  /** Some events it never takes. */
  | { kind: 'poisoned' }
  /** Now and then it takes a callback and cuts the connection instead of answering. */
  | { kind: 'cutting' }
  /** Wants no more from this time on. */
  | { kind: 'gone'; fromMs: number };

/** A subscription from its beginning to its end; without an end it stays. */
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
  /** How long events are published; all times count from its beginning. */
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

/** Chance of its own for each purpose, so that one that is asked more often changes no other. */
export function randomOf(seed: number, purpose: number): Random {
  const world = virtualWorld({ seed: seed * 7919 + purpose });
  return () => world.random();
}

const nodes = 3;
const eventsPerRound = 5_000;
/** A lease is 30 s and its rescue comes at most 5 s later; so a round has time for one freeze. */
const roundMs = 40_000;
const frozenMs = 37_000;
/** What is killed later would have to be waited for: its leases last another 36 s. */
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
    // Sometimes longer than a commit of unknown outcome is asked about, sometimes shorter.
    { kind: 'outage', atMs: startMs + 8_000 + random() * 14_000, forMs: 1_000 + random() * 7_000 },
  ];
  // A node that stood still knows nothing of what was answered meanwhile, and still holds its leases.
  const dozing = others[Math.floor(random() * others.length)] ?? 0;
  const dozeMs = { atMs: startMs + 10_000 + random() * 14_000, forMs: 2_000 + random() * 3_000 };
  faults.push({ kind: 'freeze', node: dozing, ...dozeMs });
  for (let atMs = 3_000 + random() * 4_000; atMs < lastKillMs; atMs += 2_000 + random() * 6_000) {
    const node = others[Math.floor(random() * others.length)] ?? 0;
    faults.push({ kind: 'kill', node, atMs: startMs + atMs, downMs: random() * 2_000 });
  }
  return faults;
}

/** Those that are there from the beginning and stay, one of each manner. */
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
