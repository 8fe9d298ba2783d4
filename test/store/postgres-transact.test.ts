// The end of a transaction: its last statements are sent together with the commit, and either all of it happens or
// nothing.
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

  it('rolls back and reports the reason if a last statement fails; the connection stays usable', async () => {
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

  it('writes nothing if the begin fails', async () => {
    const earlier = await notes();
    const { name } = statement('begin');
    await link.withClient(async (client) => client.query(`deallocate ${name}`));
    const failing = transact({ link, world }, async (tx) => {
      await tx.query(insert, ['outside']).catch(() => undefined);
      await turn(); // The begin has failed by now, but its error was not handled yet.
      return { result: 'unheard', written: [] };
    });
    await assert.rejects(failing, { code: '26000' });
    assert.deepEqual(await notes(), earlier);
    await transact({ link, world }, async (tx) => {
      return { result: await tx.query('select 1 as one', []), written: [] };
    });
  });

  it('does not affect the next transaction if its body fails', async () => {
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

  it('is not reported as done if a last statement failed before it was sent', async () => {
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

  it('trusts an uncertain commit only after another commit, which a standby must have', async () => {
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

  it('does not trust an uncertain commit whose events are missing', async () => {
    // After a failover, another transaction may have the same id: that one is committed, but not this one.
    const isCut = proxy.cut('before', hasCommitted);
    const doubtful = transact({ link, world }, async (tx) => {
      await tx.query(insert, ['of another']);
      return { result: 'believed', written: ['0'.repeat(26)] };
    });
    await assert.rejects(doubtful, (error) => !(error instanceof OutcomeUnknown));
    await isCut;
    assert((await notes()).includes('of another'), 'a transaction with this id was committed');
  });

  // Names that sort before and after any other.
  for (const life of ['!', '~']) {
    it(`treats an uncertain commit without events as unknown in another life, "${life}"`, async () => {
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
