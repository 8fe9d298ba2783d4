// The part of the proof about faults of PostgreSQL, with real nodes under real load.
import { chaos } from '../../e2e/cluster-chaos.ts';
import { hearNothing } from '../../e2e/cluster-listen.ts';
import { outage } from '../../e2e/cluster-outage.ts';
import type { Finding, Part, PartOptions } from '../finding.ts';
import { burst } from './burst.ts';
import { cutCommits } from './commits.ts';
import { cutEverywhere } from './cuts.ts';
import { failovers } from './failover.ts';
import { allFaults, killed } from './faults.ts';
import { killNodes } from './node-kills.ts';
import { behindPoolers } from './poolers.ts';
import { faultRounds } from './rounds.ts';
import { claimSideBySide } from './side-by-side.ts';

export const postgres: Part = {
  name: 'postgres',
  about:
    'Real nodes on a real PostgreSQL under load. The database is killed, frozen, restarted, cut off, made ' +
    'read-only and replaced by its standby; nodes are killed; the connection is cut at each message of each ' +
    'path. No acknowledged event is lost or duplicated, and everything recovers by itself.',
  prove: async (options) => (options.scale === 'small' ? proveSmall() : proveFull(options)),
};

/** No timing assertions. */
async function proveSmall(): Promise<Finding[]> {
  return [
    await cutCommits({ rounds: 2 }),
    await behindPoolers(),
    ...(await cutEverywhere({ paths: ['publish'], step: 8 })),
    await burst({ clients: 20, publishes: 20 }),
  ];
}

const killsOfNodes = 9;
const chaosEvents = 5_000;
const awayMs = 20_000;
const unheardEvents = 20;

/** Runs two sequences at a time, because the second mostly waits. */
async function proveFull(options: PartOptions): Promise<Finding[]> {
  const { seed, say } = options;
  const [busy, patient] = await Promise.all([
    inTurn(say, {
      'faults under load': async () => faultRounds({ faults: allFaults, seed, say }),
      'a server that does not wait for its disk': async () => onLazyServer(seed),
      'failover, synchronous': async () => [
        await failovers({
          replication: 'synchronous',
          endings: ['killed', 'frozen', 'unheard', 'killed', 'unheard', 'frozen'],
          seed,
        }),
      ],
      'failover, asynchronous': async () => [
        await failovers({
          replication: 'asynchronous',
          endings: ['killed', 'frozen', 'unheard'],
          seed,
        }),
      ],
    }),
    inTurn(say, {
      poolers: async () => [await behindPoolers({ withPgBouncer: true })],
      'two claim at once': async () => [await claimSideBySide()],
      'nodes killed': async () => [await killNodes({ kills: killsOfNodes })],
      'a burst of subscribes': async () => [await burst({ clients: 400, publishes: 400 })],
      'cuts at the commit': async () => [await cutCommits({ rounds: 20 })],
      'cuts of publish and subscribe': async () =>
        cutEverywhere({ paths: ['publish', 'subscribe'], say }),
      'cuts of unsubscribe, claim and settle': async () =>
        cutEverywhere({ paths: ['unsubscribe', 'claim and settle'], say }),
      'no wake-up is heard': async () => [await unheard()],
      'a database that is away': async () => [await away('killed'), await away('frozen')],
      'everything at once': async () => [await everything(seed)],
    }),
  ]);
  return [...busy, ...patient];
}

type Step = () => Promise<Finding[]>;

/** A step that throws counts as a violation, and the other steps still run. */
async function inTurn(
  say: PartOptions['say'],
  steps: Readonly<Record<string, Step>>,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [name, step] of Object.entries(steps)) {
    say(name);
    const found = await step().catch((error: unknown): Finding[] => [
      { part: `postgres: ${name}`, figures: {}, violations: [String(error)] },
    ]);
    findings.push(...found);
  }
  return findings;
}

/** Server defaults that acknowledge a commit ten seconds before it is on the disk, unless a session overrides them. */
export const lazyServer = { synchronous_commit: 'off', wal_writer_delay: '10s' };

async function onLazyServer(seed: number): Promise<Finding[]> {
  const faults = [{ ...killed, rounds: 3 }];
  const found = await faultRounds({ faults, seed, settings: lazyServer });
  return found.map((one) => ({ ...one, part: `${one.part}, synchronous_commit off` }));
}

async function unheard(): Promise<Finding> {
  const { tookMs } = await hearNothing(unheardEvents);
  const median = tookMs[unheardEvents / 2] ?? Infinity;
  return {
    part: 'postgres: the LISTEN connection is a black hole',
    figures: { events: unheardEvents, 'median, ms': median, 'worst, ms': tookMs.at(-1) ?? 0 },
    violations: median > 1_000 ? [`I18: half of the events took more than ${median} ms`] : [],
  };
}

/** The limit for refusing a publish while the database is down, and for recovering afterwards. */
const promisedMs = 5_000;

/** Throws if an accepted event does not come; so does `everything`. */
async function away(how: 'killed' | 'frozen'): Promise<Finding> {
  const { refused, accepted, slowestRefusalMs, healedMs } = await outage(how, awayMs);
  return {
    part: `postgres: ${how} for ${awayMs / 1000} s`,
    figures: {
      'events accepted': accepted,
      'refusals (503)': refused,
      'slowest refusal, ms': slowestRefusalMs,
      'well again after, ms': healedMs,
    },
    violations: [
      ...(slowestRefusalMs > promisedMs ? [`a refusal took ${slowestRefusalMs} ms`] : []),
      ...(healedMs > promisedMs ? [`recovered only after ${healedMs} ms`] : []),
    ],
    events: { accepted, lost: 0 },
  };
}

async function everything(seed: number): Promise<Finding> {
  const report = await chaos(seed, chaosEvents);
  const { events, deliveries, delivered, dead, cancelled, kills, freezes, outages } = report;
  const duplicates = Object.entries(report.duplicates).map(([cause, count]) => `${count} ${cause}`);
  return {
    part: 'postgres: nodes and database killed and frozen at once',
    figures: {
      'events accepted': events,
      deliveries,
      delivered,
      dead,
      cancelled,
      'nodes killed': kills,
      'nodes frozen': freezes,
      'database killed': outages,
      'callbacks that came again, by cause': duplicates.join(', ') || 'none',
      'slowest answer, ms': report.slowestAnswerMs,
    },
    violations: [],
    events: { accepted: events, lost: 0 },
  };
}
