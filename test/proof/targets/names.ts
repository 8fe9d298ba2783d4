// Names for DNS rebinding: each resolves to a public address at subscribe, and then, lookup by lookup, to whatever its
// scenario says. One response covers both families, so that its whole content is known.
import { addresses, type NameAnswer, type Question } from '../../egress/name-server.ts';
import type { Chance } from '../sim/chance.ts';
import { forbidden4, forbidden6, type Ledger, type Told } from './ledger.ts';

export interface Zone {
  /** Called after all subscribes: from now on each name follows its scenario. */
  turn: () => void;
  answer: (question: Question) => NameAnswer;
  /** Lookups answered since then, and those with a forbidden address in the response. */
  readonly lookUps: number;
  readonly tainted: number;
  /** Names that only a search list would look up. */
  strangers: readonly string[];
}

type Both = Readonly<Record<4 | 6, NameAnswer>>;

interface Draw {
  turn: number;
  chance: Chance;
  /** A public address. */
  open: (family: 4 | 6) => string;
  /** A forbidden address, which taints the response. */
  bad4: () => string;
  bad6: () => string;
}

const none = addresses();
const missing = { kind: 'code', code: 3 } as const;
const failing = { kind: 'code', code: 2 } as const;
const silent = { kind: 'silent' } as const;

/** The most addresses that a name may have. */
const many = 16;
const thousand = 1_000;

/** If the families differ, a response must not depend on `turn`: a repeated question would mix two turns. */
export const scenarios: Readonly<Record<string, (draw: Draw) => Both>> = {
  forbidden: ({ bad4 }) => ({ 4: addresses(bad4()), 6: none }),
  forbidden6: ({ bad6 }) => ({ 4: none, 6: addresses(bad6()) }),
  'first-of-two': ({ bad4, open }) => ({ 4: addresses(bad4(), open(4)), 6: none }),
  'last-of-two': ({ bad4, open }) => ({ 4: addresses(open(4), bad4()), 6: none }),
  'last-of-many': ({ bad4, open }) => ({
    4: addresses(...repeat(many - 1, () => open(4)), bad4()),
    6: none,
  }),
  'among-six': ({ bad6, open }) => ({ 4: none, 6: addresses(open(6), bad6(), open(6)) }),
  'other-family': ({ bad6, open }) => ({ 4: addresses(open(4)), 6: addresses(bad6()) }),
  'other-family4': ({ bad4, open }) => ({ 4: addresses(bad4()), 6: addresses(open(6)) }),
  // Alternates between a public and a forbidden address, which catches a second lookup for the same connection.
  'flip-flop': ({ turn, bad4, open }) => ({
    4: { ...addresses(turn % 2 === 0 ? bad4() : open(4)), ttlS: 0 },
    6: none,
  }),
  'flip-flop-six': ({ turn, bad6, open }) => ({
    4: none,
    6: { ...addresses(turn % 2 === 0 ? bad6() : open(6)), ttlS: 0 },
  }),
  alias: ({ bad4 }) => alias('db.corp.internal', bad4()),
  'alias-of-alias': ({ bad4 }) => ({
    4: {
      kind: 'records',
      records: [
        { alias: 'one.example' },
        { owner: 'one.example', alias: 'localhost' },
        { owner: 'localhost', address: bad4() },
      ],
    },
    6: none,
  }),
  'alias-loop': () => {
    const loop: NameAnswer = {
      kind: 'records',
      records: [{ alias: 'b.example' }, { owner: 'b.example', alias: 'a.example' }],
    };
    return { 4: loop, 6: loop };
  },
  'of-another': ({ bad4, open }) => ({
    4: {
      kind: 'records',
      records: [{ owner: 'other.example', address: bad4() }, { address: open(4) }],
    },
    6: none,
  }),
  'half-failing': ({ bad6 }) => ({ 4: failing, 6: addresses(bad6()) }),
  'half-silent': ({ bad4 }) => ({ 4: addresses(bad4()), 6: silent }),
  nxdomain: () => ({ 4: missing, 6: missing }),
  servfail: () => ({ 4: failing, 6: failing }),
  empty: () => ({ 4: none, 6: none }),
  broken: () => ({ 4: { kind: 'broken' }, 6: { kind: 'broken' } }),
  silent: () => ({ 4: silent, 6: silent }),
  thousand: ({ open }) => ({ 4: addresses(...repeat(thousand, () => open(4))), 6: none }),
  'thousand-and-one': ({ bad4, open }) => ({
    4: addresses(...repeat(thousand, () => open(4)), bad4()),
    6: none,
  }),
  public6: ({ open }) => ({ 4: none, 6: addresses(open(6)) }),
  public: ({ open }) => ({ 4: addresses(open(4)), 6: none }),
  astray: ({ open }) => ({ 4: addresses(open(4)), 6: none }),
  astray6: ({ open }) => ({ 4: none, 6: addresses(open(6)) }),
};

/** Scenarios that wait for two seconds or have a thousand records, so they get fewer names. */
export const slowScenarios = new Set(['silent', 'half-silent', 'thousand', 'thousand-and-one']);

/** Scenarios without a forbidden address, for comparison. */
export const plainScenarios = new Set([
  'alias-loop',
  'nxdomain',
  'servfail',
  'empty',
  'broken',
  'public',
  'public6',
]);

/** The name contains its scenario: `flip-flop-17.rebind.example`. */
export function nameOf(scenario: string, no: number): string {
  return `${scenario}-${no}.rebind.example`;
}

export function zoneOf({ ledger, chance }: { ledger: Ledger; chance: Chance }): Zone {
  const asked = new Map<string, Record<4 | 6, number>>();
  const turns = new Map<string, Both[]>();
  const strangers: string[] = [];
  const counts = { lookUps: 0, tainted: 0 };
  let hasTurned = false;
  const take = (name: string, turn: number): Both => {
    const scenario = /^(.*)-\d+\.rebind\.example$/.exec(name)?.[1] ?? '';
    const told: Told = { scenario, tainted: undefined };
    const open = (family: 4 | 6): string => ledger.fresh(family, told);
    const bad = (list: readonly string[]): string => {
      told.tainted = chance.pick(list);
      return told.tainted;
    };
    const play = hasTurned ? scenarios[scenario] : scenarios['public'];
    if (play === undefined) return { 4: missing, 6: missing };
    const both = play({
      turn,
      chance,
      open,
      bad4: () => bad(forbidden4),
      bad6: () => bad(forbidden6),
    });
    counts.lookUps += 1;
    if (told.tainted !== undefined) counts.tainted += 1;
    return both;
  };
  return {
    strangers,
    turn: () => {
      hasTurned = true;
      asked.clear();
      turns.clear();
      counts.lookUps = 0;
    },
    get lookUps() {
      return counts.lookUps;
    },
    get tainted() {
      return counts.tainted;
    },
    answer: ({ name, family }) => {
      if (!name.endsWith('.rebind.example')) strangers.push(name);
      const seen = asked.get(name) ?? { 4: 0, 6: 0 };
      asked.set(name, seen);
      const turn = seen[family];
      seen[family] += 1;
      const known = turns.get(name) ?? [];
      turns.set(name, known);
      const both = known[turn] ?? take(name, turn);
      known[turn] = both;
      return both[family];
    },
  };
}

function alias(name: string, address: string): Both {
  const records = [{ alias: name }, { owner: name, address }];
  return { 4: { kind: 'records', records }, 6: none };
}

function repeat<T>(count: number, make: () => T): T[] {
  return Array.from({ length: count }, make);
}
