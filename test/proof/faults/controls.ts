// Negative controls of the faults around a node: each breaks the product on purpose and names the fault that must
// detect it.
import type { LookControl } from '../controls/run-controls.ts';
import { clockSetBack, clockSteps, liveBackup, secondService, stopSignals } from './around.ts';
import { poisonFanOut, poisonRows } from './poison.ts';
import { changedMigration, deletedDatabase, fullDisk } from './store-faults.ts';

export const faultsControls: readonly LookControl[] = [
  {
    name: 'ready-on-a-full-disk',
    changes: [
      {
        file: 'src/engine/cluster/readiness.ts',
        find: "    await store.edit('heartbeat', { node: self.no() });\n",
        replace: '',
      },
    ],
    breaks: /^I12: the disk is full: \/readyz says 200/,
    look: async (changes) => fullDisk(changes),
  },
  {
    name: 'no-lock-of-the-folder',
    changes: [
      {
        file: 'src/store/sqlite/connection/database-file.ts',
        find: "    db.exec('begin exclusive');\n",
        replace: '',
      },
    ],
    breaks: /^I4: a second service/,
    look: async (changes) => secondService(changes),
  },
  {
    name: 'write-into-a-deleted-file',
    changes: [
      {
        file: 'src/store/sqlite/batch/adapter.ts',
        find: "path === ':memory:' ? alwaysSameFile : watchFile(path)",
        replace: "path === ':memory:' ? alwaysSameFile : alwaysSameFile",
      },
      {
        file: 'src/store/sqlite/batch/adapter.ts',
        find: '  watchFile,\n',
        replace: '',
      },
    ],
    breaks: /^I12: the database is deleted: answered 202/,
    look: async (changes) => deletedDatabase(changes),
  },
  {
    name: 'begin-empty-where-a-database-was',
    changes: [
      {
        file: 'src/store/sqlite/connection/connect.ts',
        find: '  if (left.length === 0) return;',
        replace: '  if (left.length >= 0) return;',
      },
    ],
    breaks: /^I12: a start without its database: it runs/,
    look: async (changes) => deletedDatabase(changes),
  },
  {
    name: 'ignore-a-changed-migration',
    changes: [
      {
        file: 'src/store/sql/migration-rules.ts',
        find: '  if (found.hash === undefined || found.hash === expected) return;',
        replace: "  if (found.hash === undefined || expected !== '') return;",
      },
    ],
    breaks: /^I12: a start on a changed migration: it runs/,
    look: async (changes) => changedMigration(changes),
  },
  {
    name: 'a-fan-out-that-ends-all',
    changes: [
      {
        file: 'src/store/sqlite/deliver/claim-and-fan-out.ts',
        find: "if (taken.kind === 'done') return taken.output;",
        replace: "if (taken.kind === 'done') return taken.output; throw new Error('poison');",
      },
    ],
    breaks: /^I14: a fan-out that cannot be read: (a publish was answered|the process has ended)/,
    look: async (changes) => poisonFanOut(changes),
  },
  {
    name: 'a-filter-that-refuses-all',
    changes: [
      {
        file: 'src/store/rules/listeners.ts',
        find: '  } catch {\n    return undefined;',
        replace: '  } catch (error) {\n    throw error;',
      },
    ],
    breaks: /^I14: poison rows: a publish was answered with 5/,
    look: async (changes) => poisonRows(changes),
  },
  {
    name: 'backup-of-the-file-alone',
    changes: [
      {
        file: 'src/store/sqlite/backup/backup.ts',
        find: "    db.prepare('vacuum into ?').run(part);",
        replace: "    process.getBuiltinModule('node:fs').copyFileSync(path, part);",
      },
      // Prevents a checkpoint at that moment: right after one, a copy of the file alone would be complete.
      {
        file: 'src/core/limits/store-limits.ts',
        find: 'LogPages: 4_000,',
        replace: 'LogPages: 1e9,',
      },
    ],
    breaks: /^I1: (\d+ events are not in the backup|the backup ended with)/,
    look: async (changes) => liveBackup(changes),
  },
  {
    name: 'deliver-again-after-a-stop',
    changes: [
      {
        file: 'src/engine/deliver/start-delivering.ts',
        find: '      await dispatcher.stop(graceMs);',
        replace: '      await dispatcher.stop(() => 0 * graceMs());',
      },
    ],
    breaks: /^I5: SIGTERM with work in flight: \d+ came twice/,
    look: async (changes) => stopSignals(changes),
  },
  {
    name: 'keep-times-of-a-clock-that-was-ahead',
    changes: [
      {
        file: 'src/store/sqlite/upkeep/rebase-times.ts',
        find: '      if (backMs < limits.clockBackMs) return;',
        replace: '      if (backMs < Infinity) return;',
      },
    ],
    breaks: /^I18: the clock was set back/,
    look: async (changes) => clockSetBack(changes),
  },
  {
    name: 'sleep-until-a-retry-is-due',
    changes: [
      {
        file: 'src/engine/deliver/dispatcher.ts',
        find: 'dueInMs > 0 ? Math.min(dueInMs, store.pollMs) : store.pollMs',
        replace: 'dueInMs > 0 && dueInMs < Infinity ? dueInMs : store.pollMs',
      },
    ],
    breaks: /^I18: the clock was set past a retry/,
    look: async (changes) => clockSteps(changes),
  },
];
