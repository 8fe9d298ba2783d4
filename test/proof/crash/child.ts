// The process to be killed: it runs one path on a prepared folder, or opens an old or empty one, and writes each
// response to the history. Usage: node child.ts <folder> <history file> <path | migrate> [stage]
import { openSync } from 'node:fs';
import { databaseIn, makeFolder, migrationsDir, storeOver } from '../../../src/store/open/open.ts';
import { openSqlite, inProcess } from '../../../src/store/sqlite/batch/adapter.ts';
import { sayTo } from './history.ts';
import { Actor, nowMs, paths, type PathName, type Stage } from './paths.ts';

const [dataDir = '', file = '', task = '', stageText = ''] = process.argv.slice(2);
const say = sayTo(openSync(file, 'a'));
makeFolder(dataDir);
const sqlite = openSqlite({ path: databaseIn(dataDir), migrationsDir, nowMs });
const onFatal = (error: Error): void => {
  throw error;
};
const store = storeOver(inProcess(sqlite, { onFatal }), { nowMs: () => nowMs });
if (task !== 'migrate') {
  const stage = JSON.parse(stageText) as Stage;
  await paths[task as PathName].act(new Actor(store, stage, say));
}
say({ say: 'closing' });
await store.close();
say({ say: 'done' });
