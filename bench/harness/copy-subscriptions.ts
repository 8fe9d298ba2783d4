// Makes many subscriptions of one that the service has made, by plain SQL: over HTTP, a million would take minutes.
// For a SQLite store that no service has open.
import { strict as assert } from 'node:assert';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { realWorld } from '../../src/core/base/world.ts';
import type { KeyRing } from '../../src/core/secrets/seal.ts';
import { openSecrets, sealSecrets } from '../../src/engine/targets/secrets.ts';
import { keyFileIn, readKeyFile } from '../../src/store/open/key-file.ts';
import { keysOf, type Owner } from '../../src/store/rules/pattern-keys.ts';

export interface Copying {
  /** As the API shows it; with a subject, one callback and one event. */
  id: string;
  copies: number;
  /** The subject of each copy, from 1. */
  subjectOf: (copy: number) => string;
}

export function copySubscriptions(dataDir: string, copyings: readonly Copying[]): void {
  const ring: KeyRing = [readKeyFile(keyFileIn(dataDir))];
  using db = new DatabaseSync(join(dataDir, 'ringback.db'));
  db.exec('pragma synchronous = off; pragma cache_size = -500000; begin');
  for (const copying of copyings) copySubscription({ db, ring }, copying);
  db.exec('commit; pragma wal_checkpoint(truncate)');
}

const world = realWorld();

function copySubscription(
  { db, ring }: { db: DatabaseSync; ring: KeyRing },
  { id: shownId, copies, subjectOf }: Copying,
): void {
  const row = db.prepare(templateSql).get(shownId.replace(/^sub_/, ''));
  assert(row?.['sealed'] instanceof Uint8Array, `There is no subscription ${shownId}`);
  const [id, appId, event] = [String(row['id']), String(row['app_id']), String(row['event'])];
  const number = (column: string): number => Number(row[column]);
  const idOf = (copy: number): string =>
    id.slice(0, 16) + String(number('last_subscription') + copy).padStart(10, '0');
  const secrets = openSecrets(ring, { appId, subscriptionId: id }, row['sealed']);
  db.function('id_of', (i) => idOf(Number(i)));
  db.function('subject_of', (i) => subjectOf(Number(i)));
  db.function('secrets_of', (i) =>
    sealSecrets({ ring, world }, { appId, subscriptionId: idOf(Number(i)) }, secrets),
  );
  /** `changed`: columns that differ, as expressions with `i`, the number of the copy. */
  const copy = (table: string, where: string, changed: Readonly<Record<string, string>>): void => {
    const columns = db
      .prepare(columnsSql)
      .all(table)
      .map(({ name }) => String(name));
    db.exec(`
      with recursive copy (i) as (select 1 union all select i + 1 from copy where i < ${copies})
      insert into ${table} (${columns.join(', ')})
      select ${columns.map((column) => changed[column] ?? column).join(', ')}
      from copy cross join (select * from ${table} where ${where})`);
  };
  const [subscription, callback, lane, version] = columnsOfLast.map(
    (last) => `${number(last)} + i`,
  );
  assert(subscription && callback && lane && version);
  copy('subscription', `no = ${number('subscription')}`, {
    no: subscription,
    id: 'id_of(i)',
    subject: 'subject_of(i)',
    secrets: 'secrets_of(i)',
    version,
  });
  copy('lane', `no = ${number('lane')}`, { no: lane, subscription, version });
  copy('callback', `no = ${number('callback')}`, { no: callback, subscription, lane });
  for (const [at, key] of keysOf(event, ownerOf(String(row['subject']))).entries()) {
    db.function('key_of', (i) => keysOf(event, ownerOf(subjectOf(Number(i))))[at] ?? null);
    const where = `callback = ${number('callback')} and pattern = '${key}'`;
    copy('pattern', where, { pattern: 'key_of(i)', callback, lane, born: version });
  }
  db.prepare(countSql).run(copies, number('app'));
}

function ownerOf(subject: string): Owner {
  return { subject, customer: undefined };
}

const columnsOfLast = ['last_subscription', 'last_callback', 'last_lane', 'last_version'] as const;

const templateSql = `
  select s.app, s.no as subscription, s.id, s.subject, s.secrets as sealed, a.id as app_id,
    c.no as callback, c.event, c.lane, a.version as last_version,
    (select max(no) from subscription) as last_subscription,
    (select max(no) from callback) as last_callback,
    (select max(no) from lane) as last_lane
  from subscription s join app a on a.no = s.app join callback c on c.subscription = s.no
  where s.id = ?`;

const columnsSql = 'select name from pragma_table_xinfo(?) where hidden = 0';

const countSql = `
  update app set version = version + ?1, subscriptions = subscriptions + ?1 where no = ?2`;
