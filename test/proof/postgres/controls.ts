// Negative controls for PostgreSQL: each breaks the product on purpose and must be detected.
import type { SourceChange } from '../controls/change-source.ts';
import type { LookControl } from '../controls/run-controls.ts';
import type { Finding } from '../finding.ts';
import { burst } from './burst.ts';
import { cutCommits } from './commits.ts';
import { failovers, type Ending } from './failover.ts';
import { killed, terminated, type Fault } from './faults.ts';
import { lazyServer } from './part.ts';
import { behindPoolers } from './poolers.ts';
import { faultRounds } from './rounds.ts';
import { claimSideBySide } from './side-by-side.ts';

type Changes = readonly SourceChange[];

/** Long enough for deliveries that do end, and short for those that never will. */
const drainMs = 5_000;
const seed = 1;

async function lookAtCommits(changes: Changes): Promise<Finding> {
  return cutCommits({ rounds: 2, changes, drainMs });
}

async function lookAtBurst(changes: Changes): Promise<Finding> {
  return burst({ clients: 8, publishes: 2, changes });
}

function lookAtRounds(
  fault: Fault,
  settings: Readonly<Record<string, string>> = {},
): (changes: Changes) => Promise<Finding> {
  return async (changes) => {
    const faults = [{ ...fault, rounds: 1 }];
    const found = await faultRounds({
      faults,
      seed,
      changes,
      settings,
      drainMs,
      healPatienceMs: 5_000,
    });
    return { part: fault.name, figures: {}, violations: found.flatMap((one) => one.violations) };
  };
}

function lookAtFailover(
  replication: 'synchronous' | 'asynchronous',
  ending: Ending,
): (changes: Changes) => Promise<Finding> {
  return async (changes) => failovers({ replication, endings: [ending], seed, changes, drainMs });
}

const transact = 'src/store/postgres/connection/transact.ts';

export const postgresControls: readonly LookControl[] = [
  {
    name: 'postgres: publishes wait in the queue of all other edits',
    changes: [
      {
        file: 'src/store/batch/batch-cycle.ts',
        find: "    return this.#areApart() && call.verb !== 'publish' ? this.#changes : this.#edits;\n",
        replace: "    return call.verb === 'publish' ? this.#edits : this.#edits;\n",
      },
    ],
    breaks: /^a publish waited/,
    look: lookAtBurst,
  },
  {
    name: 'postgres: an edit that was given up stays in the queue',
    changes: [
      {
        file: 'src/store/batch/edit-queue.ts',
        find: '    withdraw: leave,\n',
        replace: '    withdraw: (edit) => waiting.has(edit),\n',
      },
    ],
    breaks: /^a subscribe happened/,
    look: lookAtBurst,
  },
  {
    name: 'postgres: synchronous_commit not pinned',
    changes: [
      {
        file: 'src/store/postgres/connection/connect.ts',
        find: "  synchronous_commit: 'on', // A reply means: on disk.\n",
        replace: '',
      },
    ],
    breaks: /^I1:/,
    look: lookAtRounds(killed, lazyServer),
  },
  {
    name: 'postgres: answered before the commit',
    changes: [
      {
        file: transact,
        find: "Promise.allSettled([whole ?? result, sendText(client, 'commit')]);\n",
        replace:
          "Promise.allSettled([whole ?? result, { command: 'COMMIT' }]);\n  sendText(client, 'commit').catch(() => undefined);\n",
      },
    ],
    breaks: /^I1:/,
    look: lookAtCommits,
  },
  {
    name: 'postgres: a commit in doubt taken as done',
    changes: [
      {
        file: transact,
        find: "    if (status === 'aborted') throw cause;\n",
        replace: "    if (status === 'aborted') return commit.result;\n",
      },
    ],
    breaks: /^I1:/,
    look: lookAtCommits,
  },
  {
    name: 'postgres: a commit in doubt taken as failed',
    changes: [
      {
        file: transact,
        find: "    if (status === 'committed') return commit.result;\n",
        replace: "    if (status === 'committed') throw cause;\n",
      },
    ],
    // The idempotency key prevents a second event, but the delivery was inserted leased to a node that does not know it.
    breaks: /^I3:/,
    look: lookAtCommits,
  },
  {
    name: 'postgres: a commit believed that only the primary has',
    changes: [{ file: transact, find: '  await tx.query(transactSql.reach, []);\n', replace: '' }],
    breaks: /^I1:/,
    look: lookAtFailover('synchronous', 'unheard'),
  },
  {
    name: 'postgres: what a failover left with a living node stays there',
    changes: [
      {
        file: 'src/store/postgres/batch/lease-ledger.ts',
        find: 'const isAnother = epoch !== undefined && epoch !== now;',
        replace: "const isAnother = now === '';",
      },
    ],
    breaks: /^I3:/,
    look: lookAtFailover('asynchronous', 'unheard'),
  },
  {
    name: 'postgres: claims what another node holds',
    changes: [
      {
        file: 'src/store/postgres/deliver/claim.ts',
        find: 'order by ready_ms, no limit $4 for no key update skip locked`',
        replace: 'order by ready_ms, no limit $4`',
      },
      {
        file: 'src/store/postgres/deliver/claim.ts',
        find: '      and coalesce(lease, 0) = 0\n',
        replace: '',
      },
    ],
    breaks: /^I5:/,
    look: claimSideBySide,
  },
  {
    name: 'postgres: a broken connection goes unnoticed',
    changes: [
      {
        file: 'src/store/postgres/connection/connect.ts',
        find: "  client.on('error', (error) => {",
        replace: "  client.on('never emitted', (error) => {",
      },
    ],
    breaks: /^I12: .* ended by itself/,
    look: lookAtRounds(terminated),
  },
  {
    name: 'postgres: a broken connection is kept',
    changes: [
      {
        file: 'src/store/postgres/connection/reconnecting-client.ts',
        find: '      if (this.#client === opening) this.#client = undefined;\n',
        replace: '',
      },
      {
        file: 'src/store/postgres/connection/reconnecting-client.ts',
        find: '    const client = this.#client;\n    this.#client = undefined;\n    client?.then(\n',
        replace: '    const client = this.#client;\n    client?.then(\n',
      },
    ],
    breaks: /^I12: .*first callback/,
    look: lookAtRounds(terminated),
  },
  {
    name: 'postgres: a pooler that shares server connections is accepted',
    changes: [
      {
        file: 'src/store/postgres/connection/examine.ts',
        find: '  if (loss !== undefined) throw sharesSession(url, loss);\n',
        replace: '',
      },
    ],
    breaks: /^I12: .* in transaction mode/,
    look: async (changes) => behindPoolers({ changes }),
  },
];
