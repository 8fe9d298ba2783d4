// The part of the proof about faults around one node on SQLite.
import type { Finding, Part } from '../finding.ts';
import * as around from './around.ts';
import { patientBusyMs } from './node.ts';
import { poisonFanOut, poisonRows } from './poison.ts';
import * as store from './store-faults.ts';

type Fault = () => Promise<Finding>;

const all: Readonly<Record<string, Fault>> = {
  'disk full': async () => store.fullDisk(),
  'disk read-only': async () => store.readOnlyDisk(),
  'database locked by another process': async () => store.lockedDatabase(),
  'database moved away': async () => store.movedDatabase(),
  'log deleted': async () => store.deletedLog(),
  'database deleted': async () => store.deletedDatabase(),
  'migration changed': async () => store.changedMigration(),
  'long reader': async () => store.longReader(),
  'poison rows': async () => poisonRows(),
  'poison fan-out': async () => poisonFanOut(),
  'second service': async () => around.secondService(),
  'copied folder': async () => around.clonedFolder(),
  'live backup': async () => around.liveBackup(),
  'blocked log': async () => around.blockedLog(),
  'scrape storm': async () => around.scrapeStorm(),
  'clock set': async () => around.clockSteps(),
  'clock set back': async () => around.clockSetBack(),
  signals: async () => around.stopSignals(),
};

/** The quickest fault; other tests cover a full disk and poison rows. */
const few: Readonly<Record<string, Fault>> = {
  'database moved away': async () => store.movedDatabase([], patientBusyMs),
};

export const faults: Part = {
  name: 'faults',
  about:
    'Faults of the disk, the files, the clock, the log, other processes and unreadable rows, under a real ' +
    'node on SQLite. No accepted event is lost, nothing is accepted that cannot be kept, and everything ' +
    'recovers by itself.',
  prove: async ({ scale, say }) => {
    const found: Finding[] = [];
    for (const [name, fault] of Object.entries(scale === 'full' ? all : few)) {
      say(name);
      found.push(await failing(name, fault));
    }
    return found;
  },
};

/** An error becomes a violation of that fault, and the other faults still run. */
async function failing(name: string, fault: Fault): Promise<Finding> {
  return fault().catch((error: unknown) => ({
    part: name,
    figures: {},
    violations: [error instanceof Error ? error.message : String(error)],
  }));
}
