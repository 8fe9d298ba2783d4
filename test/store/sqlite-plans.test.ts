// Every statement of the adapter, by name, with the plan that SQLite chooses for it: an index for
// each table it touches, no scan and no sorting aside.
import { strict as assert } from 'node:assert';
import { DatabaseSync } from 'node:sqlite';
import type { StatementSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { appVersionSql } from '../../src/store/sqlite/app-version.ts';
import { appsSql } from '../../src/store/sqlite/apps.ts';
import { editSubscriptionSql } from '../../src/store/sqlite/edit-subscription.ts';
import { forgetSql } from '../../src/store/sqlite/forget.ts';
import { healthSql } from '../../src/store/sqlite/health.ts';
import { idempotencySql } from '../../src/store/sqlite/idempotency.ts';
import { keysSql } from '../../src/store/sqlite/keys.ts';
import { listenSql } from '../../src/store/sqlite/listen.ts';
import { settingsSql } from '../../src/store/sqlite/settings.ts';
import { subscribeSql } from '../../src/store/sqlite/subscribe.ts';
import { subscriptionsSql } from '../../src/store/sqlite/subscriptions.ts';
import { unsubscribeSql } from '../../src/store/sqlite/unsubscribe.ts';
import { prepareEdits, prepareReads } from '../../src/store/sqlite/verbs.ts';
import { openMemory } from './open-memory.ts';

const groups = {
  app: appsSql,
  appVersion: appVersionSql,
  editSubscription: editSubscriptionSql,
  forget: forgetSql,
  health: healthSql,
  idempotency: idempotencySql,
  key: keysSql,
  listen: listenSql,
  setting: settingsSql,
  subscribe: subscribeSql,
  subscription: subscriptionsSql,
  unsubscribe: unsubscribeSql,
};

const statements = Object.entries(groups).flatMap(([group, sqls]) =>
  Object.entries<string>(sqls).map(([name, sql]) => ({ name: `${group}.${name}`, sql })),
);

describe('the plan of', () => {
  const { db } = openMemory();
  for (const { name, sql } of statements) {
    it(name, () => {
      const steps = db
        .prepare(`explain query plan ${sql}`)
        .all()
        .map(({ detail }) => String(detail));
      for (const step of steps) {
        assert.match(step, /^(SEARCH \w+ USING|LIST SUBQUERY|SEARCH migration$)/, steps.join('\n'));
      }
      const isInsert = sql.trimStart().startsWith('insert');
      assert(isInsert || steps.length > 0, 'a statement without a plan');
    });
  }
});

describe('the list of statements', () => {
  it('holds every statement that the adapter prepares', () => {
    const { db } = openMemory();
    const prepared = new Set<string>();
    class Recorder extends DatabaseSync {
      override prepare(sql: string): StatementSync {
        prepared.add(sql);
        return db.prepare(sql);
      }
    }
    const recorder = new Recorder(':memory:');
    prepareEdits(recorder);
    prepareReads(recorder);
    assert.deepEqual(prepared, new Set(statements.map(({ sql }) => sql)));
  });
});

describe('lists', () => {
  it('reach only rows of their app, in the order of the index', () => {
    const { db } = openMemory();
    for (const [sql, expected] of [
      [keysSql.list, 'SEARCH key USING INDEX key_list (app=? AND no<?)'],
      [subscriptionsSql.list, 'SEARCH subscription USING INDEX subscription_list (app=? AND no<?)'],
    ] as const) {
      const steps = db.prepare(`explain query plan ${sql}`).all();
      assert.equal(steps.at(-1)?.['detail'], expected);
    }
  });
});
