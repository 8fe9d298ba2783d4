// Notifications between nodes: fast if they work, not required if they are lost, and never inside a transaction, because
// PostgreSQL serialises the commits of transactions that notify.
import { strict as assert } from 'node:assert';
import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { limits } from '../../src/core/limits/limits.ts';
import { NotifyListener } from '../../src/store/postgres/connection/notify-listener.ts';
import { ReconnectingClient } from '../../src/store/postgres/connection/reconnecting-client.ts';
import type { Passing, PostgresProxy } from '../postgres/proxy.ts';
import { startProxy } from '../postgres/proxy.ts';
import type { Stage } from './postgres-stage.ts';
import { openStage, until, world } from './postgres-stage.ts';
import { statementsIn } from './statements.ts';
import { startTestNode } from './test-node.ts';

/** A safety timeout, far longer than any passing test. */
const net = { timeout: 300_000 };

let stage: Stage;
let proxy: PostgresProxy;
beforeEach(async () => {
  stage = await openStage();
  await stage.subscribe('a');
  proxy = await startProxy(stage.database.url);
});
afterEach(async () => {
  await stage[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
});

describe('a node that creates deliveries for others', net, () => {
  it('notifies a node that does not poll, outside of transactions', async (t) => {
    const told = tellings();
    await using speaker = await startTestNode(await stage.node({ url: proxy.url }), speaks);
    await using listener = await startTestNode(await stage.node());
    const events = 400;
    await Promise.all(
      [1, 2, 3, 4].map(async () => {
        for (let i = 0; i < events / 4; i += 1) {
          await speaker.store.edit('publish', stage.publishing('a'));
        }
      }),
    );
    await listener.until(events);
    t.diagnostic(JSON.stringify(told));
    assert(listener.counts.notified > 0);
    // At most once, when it begins to listen, for notifications from before.
    assert(speaker.counts.notified <= 1, 'a node ignores its own notifications');
    assert(told.transactions > 4 && told.count > 1);
    assert.equal(told.inside, 0);
  });

  it('limits the rate of its notifications', async (t) => {
    const url = proxy.url;
    const told = tellings();
    const listening = new ReconnectingClient({ url, kind: 'plain', purpose: 'listen' });
    const notifying = new ReconnectingClient({ url, kind: 'plain', purpose: 'side' });
    const startedMs = world.monotonicMs();
    const notifier = new NotifyListener({
      listening,
      notifying,
      world,
      onNotified: () => undefined,
    });
    for (; world.monotonicMs() - startedMs < 300; await world.sleep(0)) notifier.notify();
    const tookMs = world.monotonicMs() - startedMs;
    await notifier[Symbol.asyncDispose]();
    t.diagnostic(JSON.stringify({ told: told.count, tookMs }));
    assert(told.count > 1);
    assert(told.count <= tookMs / limits.notifyEveryMs + 1, `${told.count} in ${tookMs} ms`);
  });

  it('is found by polling if its notifications are silently lost', async () => {
    await using speaker = await startTestNode(await stage.node(), speaks);
    const { pollMs } = stage.store;
    const store = await stage.node({ url: proxy.url });
    await using listener = await startTestNode(store, { pollMs });
    const held = proxy.hold('before', ({ side, type }) => side === 'backend' && type === 'A');
    await speaker.store.edit('publish', stage.publishing('a'));
    await held;
    const { notified } = listener.counts;
    await listener.until(1);
    // From here on it gets no notifications, but must find everything nevertheless.
    for (let i = 2; i <= 4; i += 1) {
      await speaker.store.edit('publish', stage.publishing('a'));
      await listener.until(i);
    }
    assert.equal(listener.counts.notified, notified);
  });

  it('is noticed again by a node whose LISTEN connection was cut', async () => {
    await using speaker = await startTestNode(await stage.node(), speaks);
    await using listener = await startTestNode(await stage.node({ url: proxy.url }));
    const cut = proxy.cut('before', ({ side, type }) => side === 'backend' && type === 'A');
    await speaker.store.edit('publish', stage.publishing('a'));
    await cut;
    await listener.until(1); // The node polls once when it listens again.
    const { notified } = listener.counts;
    await speaker.store.edit('publish', stage.publishing('a'));
    await until(() => listener.counts.notified > notified);
    await listener.until(2);
  });
});

describe('the statements of the store', () => {
  it('never notify', async () => {
    const statements = [...(await statementsIn('postgres')), ...(await statementsIn('verbs'))];
    assert(statements.length > 100);
    const dir = new URL('../../migrations/postgres/', import.meta.url);
    const migrations = readdirSync(dir).map((name) => {
      return { name, sql: readFileSync(new URL(name, dir), 'utf8').replaceAll(/--.*/g, '') };
    });
    const notifying = [...statements, ...migrations].filter(({ sql }) => /\bnotify\b/i.test(sql));
    assert.deepEqual(notifying, []);
  });
});

/** Creates pending deliveries, but claims none. */
const speaks = { claims: false } as const;

interface Tellings {
  count: number;
  inside: number;
  transactions: number;
}

/** Counts transactions and notifications that pass the proxy, inside and outside of transactions. */
function tellings(): Tellings {
  const told = { count: 0, inside: 0, transactions: 0 };
  const open = new Set<number>();
  const see = ({ sql = '', connection }: Passing): void => {
    if (/^\s*begin\b/i.test(sql)) open.add(connection);
    if (/^\s*(commit|rollback)\b/i.test(sql) && open.delete(connection)) told.transactions += 1;
    if (!/\bpg_notify\b|^\s*notify\b/i.test(sql)) return;
    told.count += 1;
    if (open.has(connection)) told.inside += 1;
  };
  void proxy.cut('before', (message) => {
    see(message);
    return false;
  });
  return told;
}
