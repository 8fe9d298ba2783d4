// A failover that leaves a node connected to a standby for a while. The node must report it, neither write nor trust reads
// there, and recover by itself when that server becomes the primary.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { openCluster } from '../../src/store/open/open.ts';
import { StoreUnavailable } from '../../src/store/port/store.ts';
import { openDatabase } from '../postgres/database.ts';
import { startPostgres } from '../postgres/server.ts';
import { newApp } from './subject.ts';
import { world } from './postgres-stage.ts';

describe('a server that comes back as a standby', { timeout: 300_000 }, () => {
  it('is not used until it becomes the primary', async (t) => {
    await using server = await startPostgres({ settings: { fsync: 'off' } });
    const url = await server.createDatabase('standby');
    const store = await openCluster({ url, world });
    t.after(async () => store.close());
    const app = await newApp(store);
    const write = async (): Promise<unknown> =>
      store.edit('keepSetting', { name: 'x', value: Buffer.from('1') });
    await server.stop();
    await server.startAsStandby();
    const isStandby = (error: unknown): boolean =>
      error instanceof StoreUnavailable && error.message.includes('standby');
    // The first calls only report the lost connections.
    await assert.rejects(write(), StoreUnavailable);
    await store.read('app', { id: app.id }).catch(() => undefined);
    await assert.rejects(write(), isStandby);
    await assert.rejects(store.read('app', { id: app.id }), isStandby);
    await assert.rejects(openCluster({ url, world }), /standby/);
    await using database = openDatabase(url);
    await database.query('select pg_promote()');
    assert.deepEqual(await write(), { value: Buffer.from('1') });
    assert.equal((await store.read('app', { id: app.id }))?.id, app.id);
  });
});
