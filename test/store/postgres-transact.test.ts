// The end of a transaction: what it asks for last leaves with its commit, and either all of it happened or
// nothing did.
import { strict as assert } from 'node:assert';
import { after, before, describe, it } from 'node:test';
import { statement } from '../../src/store/postgres/connection/pipeline.ts';
import { ReconnectingClient } from '../../src/store/postgres/connection/reconnecting-client.ts';
import {
  OutcomeUnknown,
  transact,
  transactSql,
} from '../../src/store/postgres/connection/transact.ts';
import { asksToCommit, hasCommitted, startProxy, type PostgresProxy } from '../postgres/proxy.ts';
import { openStage, world, type Stage } from './postgres-stage.ts';

let stage: Stage;
let proxy: PostgresProxy;
let link: ReconnectingClient;

before(async () => {
  stage = await openStage();
  await stage.database.query('create table public.note (text text)');
  proxy = await startProxy(stage.database.url);
  link = new ReconnectingClient({ url: proxy.url, kind: 'engine', purpose: 'test' });
});
after(async () => {
  await link.close();
  await stage[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
});

const insert = 'insert into public.note (text) values ($1) returning text';
const fail = "select 1 / ($1::text = 'never')::int";

async function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function notes(): Promise<unknown[]> {
  return (await stage.database.query('select text from public.note')).map(({ text }) => text);
}

describe('transact', { timeout: 60_000 }, () => {
  it('sends the commit before the last statements are answered', async () => {
    const passed: string[] = [];
    void proxy.cut('after', (message) => {
      if (asksToCommit(message)) passed.push('commit');
      else if (message.side === 'backend' && message.bytes.includes('a last word')) {
        passed.push('answer');
      }
      return false;
    });
    const result = await transact({ link, world }, async (tx) => {
      await tx.query(insert, ['a first word']);
      const whole = tx.query(insert, ['a last word']).then(([row]) => String(row?.['text']));
      return { result: 'unheard', whole, written: [] };
    });
    proxy.forget();
    assert.equal(result, 'a last word');
    assert.deepEqual(passed, ['commit', 'answer']);
    assert.deepEqual(await notes(), ['a first word', 'a last word']);
  });

  it('is undone by a last statement that fails, and says why; the connection goes on', async () => {
    const earlier = await notes();
    const failing = transact({ link, world }, async (tx) => {
      await tx.query(insert, ['undone']);
      tx.query(fail, ['now']).catch(() => undefined);
      const whole = tx.query(insert, ['behind it']).then(() => 'heard'); // It fails for that reason alone.
      return { result: 'unheard', whole, written: [] };
    });
    await assert.rejects(failing, { message: 'division by zero' });
    assert.deepEqual(await notes(), earlier);
    const again = transact({ link, world }, async (tx) => {
      return { result: await tx.query('select 1 as one', []), written: [] };
    });
    assert.deepEqual(await again, [{ one: 1 }]);
  });

  it('writes nothing when it could not begin', async () => {
    const earlier = await notes();
    const { name } = statement('begin');
    await link.withClient(async (client) => client.query(`deallocate ${name}`));
    const failing = transact({ link, world }, async (tx) => {
      await tx.query(insert, ['outside']).catch(() => undefined);
      await turn(); // The begin has failed by now, and nobody has looked at that yet.
      return { result: 'unheard', written: [] };
    });
    await assert.rejects(failing, { code: '26000' });
    assert.deepEqual(await notes(), earlier);
    await transact({ link, world }, async (tx) => {
      return { result: await tx.query('select 1 as one', []), written: [] };
    });
  });

  it('leaves nothing for the next transaction when its body fails', async () => {
    const earlier = await notes();
    const cause = new RangeError('no memory');
    const failing = transact({ link, world }, async (tx) => {
      await tx.query(insert, ['of a body that fails']);
      throw cause;
    });
    await assert.rejects(failing, cause);
    await transact({ link, world }, async (tx) => {
      return { result: await tx.query(insert, ['of the next one']), written: [] };
    });
    assert.deepEqual(await notes(), [...earlier, 'of the next one']);
  });

  it('is not called done when a last statement failed before it was sent', async () => {
    const cause = new RangeError('no memory for its bytes');
    const halved = transact({ link, world }, async (tx) => {
      const sent = tx.query(insert, ['a half']);
      const whole = Promise.all([sent, Promise.reject(cause)]).then(() => 'heard');
      return { result: 'unheard', whole, written: [] };
    });
    const isUnknown = (error: unknown): boolean =>
      error instanceof OutcomeUnknown && error.cause === cause;
    await assert.rejects(halved, isUnknown);
  });

  it('believes a commit in doubt only behind a commit of its own, which a standby must have', async () => {
    const passed: string[] = [];
    const isCut = proxy.cut('before', hasCommitted);
    void proxy.cut('after', (message) => {
      if (message.side === 'frontend' && message.sql === transactSql.reach) passed.push('reach');
      return false;
    });
    const believed = await transact({ link, world }, async (tx) => {
      await tx.query(insert, ['in doubt']);
      return { result: 'believed', written: [] };
    });
    proxy.forget();
    await isCut;
    assert.equal(believed, 'believed');
    assert.deepEqual(passed, ['reach']);
  });

  it('does not believe a commit in doubt whose events are not there', async () => {
    // After a failover another transaction may have its number: committed, but not this one.
    const isCut = proxy.cut('before', hasCommitted);
    const doubtful = transact({ link, world }, async (tx) => {
      await tx.query(insert, ['of another']);
      return { result: 'believed', written: ['0'.repeat(26)] };
    });
    await assert.rejects(doubtful, (error) => !(error instanceof OutcomeUnknown));
    await isCut;
    assert((await notes()).includes('of another'), 'the number was committed');
  });

  // Before and behind any other name.
  for (const life of ['!', '~']) {
    it(`leaves a commit in doubt without events unknown in another life, "${life}"`, async () => {
      const isCut = proxy.cut('before', hasCommitted);
      const doubtful = transact({ link, world }, async (tx) => {
        await tx.query(insert, [`in a life before "${life}"`]);
        await stage.database.query(`update ringback.life set id = '${life}'`);
        return { result: 'believed', written: [] };
      });
      const refused = assert.rejects(doubtful, OutcomeUnknown);
      await isCut;
      await refused;
    });
  }
});
