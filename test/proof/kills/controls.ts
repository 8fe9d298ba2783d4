// Negative controls of `kills`, each on a few thousand events.
import type { SourceChange } from '../controls/change-source.ts';
import type { LookControl } from '../controls/run-controls.ts';
import type { Finding } from '../finding.ts';
import { publishUnderKills } from './run.ts';

const look = async (changes: readonly SourceChange[]): Promise<Finding> =>
  publishUnderKills({ events: 3_000, seed: 1, killEveryMs: { least: 100, most: 300 }, changes });

export const killsControls: readonly LookControl[] = [
  {
    name: 'keys-forgotten-at-the-start',
    changes: [
      {
        file: 'src/store/sqlite/batch/adapter.ts',
        find: '        applyMigrations(db, { database: path, ...options });',
        replace:
          "        applyMigrations(db, { database: path, ...options });\n        db.exec('delete from idem');",
      },
    ],
    breaks: /^I13/,
    look,
  },
  {
    name: 'leave-what-was-under-way',
    changes: [
      {
        file: 'src/store/sqlite/deliver/nodes.ts',
        find: '    return { node, freed: free(nowMs) };',
        replace: '    return { node, freed: 0 * free.length * nowMs };',
      },
    ],
    breaks: /^(I1|I18):/,
    look,
  },
];
