// Negative controls for durability: each breaks the product on purpose and must be detected.
import type { SourceChange } from '../controls/change-source.ts';
import type { LookControl } from '../controls/run-controls.ts';
import { killAtStatements } from '../crash/points.ts';
import type { Finding } from '../finding.ts';
import { failSyncs, fillDisk, killAtCalls } from './disk-faults.ts';
import { cutPower, lazySync } from './images.ts';
import { serveOnFailedSync } from './service-faults.ts';

/** Treats every commit as successful, even if it failed. */
const deafCommit: SourceChange = {
  file: 'src/store/sqlite/transaction/transaction.ts',
  find: '    undo(db);\n    return unavailable(error);\n  }\n  return { kind',
  replace: '    undo(db);\n    void unavailable(error);\n  }\n  return { kind',
};

export const diskControls: readonly LookControl[] = [
  {
    name: 'synchronous-normal',
    changes: [lazySync],
    breaks: /I1: lost/,
    look: async (changes) => cutPower({ images: 1_000, rounds: 1, changes, isControl: true }),
  },
  {
    name: 'answer-before-commit',
    changes: [
      {
        file: 'src/store/sqlite/transaction/transaction.ts',
        find: "    undo(db);\n    db.exec('begin immediate');",
        replace: "    if (db.isTransaction) db.exec('commit');\n    db.exec('begin immediate');",
      },
      {
        file: 'src/store/sqlite/transaction/transaction.ts',
        find: "  try {\n    db.exec('commit');",
        replace: '  try {',
      },
    ],
    breaks: /I1: lost/,
    look: async (changes) => killAtStatements({ only: ['publish'], changes }),
  },
  {
    name: 'migration-in-pieces',
    changes: [
      {
        file: 'src/store/sqlite/schema/apply-migrations.ts',
        find: "  db.exec('begin immediate');",
        replace: '',
      },
      {
        file: 'src/store/sqlite/schema/apply-migrations.ts',
        find: "    db.exec('commit');",
        replace: '',
      },
    ],
    breaks: /I1: the folder cannot be opened/,
    look: async (changes) => killAtStatements({ only: ['upgrade'], pointsMax: 12, changes }),
  },
  {
    name: 'key-under-no-lasting-name',
    changes: [{ file: 'src/store/open/key-file.ts', find: '  syncFolder(dataDir);', replace: '' }],
    breaks: /I1: lost: \{"say":"ack key"/,
    look: async (changes) => cutPower({ images: 1_000, rounds: 1, changes, isControl: true }),
  },
  {
    name: 'key-written-in-place',
    changes: [
      {
        file: 'src/store/open/key-file.ts',
        find: 'const unfinished = `${path}.new`;',
        replace: 'const unfinished = path;',
      },
    ],
    breaks: /I1: the folder cannot be opened/,
    look: async (changes) => killAtCalls({ only: ['life'], calls: /encryption\.key/, changes }),
  },
  {
    name: 'trust-after-a-failed-sync',
    changes: [
      {
        file: 'src/store/sqlite/connection/failure.ts',
        find: 'new Set([1034, 1290])',
        replace: 'new Set<number>()',
      },
    ],
    breaks: /I12/,
    look: async (changes) => serveOnFailedSync(changes),
  },
  {
    name: 'answer-though-the-sync-failed',
    changes: [deafCommit],
    breaks: /I12: after a failed sync/,
    look: async (changes) => failSyncs({ only: ['publish'], pointsMax: 4, changes }),
  },
  {
    name: 'answer-though-the-disk-is-full',
    changes: [deafCommit],
    breaks: /I1: lost/,
    look: async (changes) => fillDisk({ only: ['publish'], pointsMax: 8, changes }),
  },
];

/** Shows that killing a process does not detect missing syncs, so the simulated power cuts are needed. */
export async function killWithoutSync(): Promise<Finding> {
  const only = ['publish', 'settle'] as const;
  const found = await killAtStatements({ only, pointsMax: 40, changes: [lazySync] });
  return { ...found, part: 'kill -9 with synchronous = normal: sees nothing' };
}
