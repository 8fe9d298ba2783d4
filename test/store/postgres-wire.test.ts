// Values must come back from a real server unchanged.
import { strict as assert } from 'node:assert';
import { after, before, describe, it } from 'node:test';
import { bytes } from '../../src/store/sql/row.ts';
import { fc, seed } from '../fast-check.ts';
import type { Stage } from './postgres-stage.ts';
import { openStage } from './postgres-stage.ts';

let stage: Stage;
before(async () => {
  stage = await openStage();
});
after(async () => stage[Symbol.asyncDispose]());

/** PostgreSQL text cannot contain NUL. */
const text = fc
  .oneof(
    fc.constantFrom(
      '',
      'null',
      'NULL',
      '{}',
      '{a,b}',
      '"',
      '\\',
      '\\"',
      ' ',
      'a b',
      ',',
      "'",
      '\n',
    ),
    fc.string({ unit: 'binary' }),
  )
  .map((some) => some.toWellFormed().replaceAll('\0', ''));

describe('array parameters of PostgreSQL', () => {
  it('keep text and null', async () => {
    const held = await stage.begin();
    const sent = async (list: readonly (string | null)[]): Promise<void> => {
      const rows = await held.tx.query('select x from unnest($1::text[]) as x', [list]);
      assert.deepEqual(
        rows.map(({ x }) => x),
        list,
      );
    };
    await fc.assert(fc.asyncProperty(fc.array(fc.option(text)), sent), { seed, numRuns: 200 });
    await held.rollback();
  });

  it('keep numbers, booleans and bytes', async () => {
    const held = await stage.begin();
    const numbers = [0, -1, 1.5, 2 ** 53 - 1, 1e-7];
    const kinds = await held.tx.query(
      'select * from unnest($1::float8[], $2::bool[], $3::bytea[]) as x (number, truth, bytes)',
      [numbers, [true, false, null, true, false], [Buffer.from([0, 255, 92]), new Uint8Array()]],
    );
    assert.deepEqual(
      kinds.map(({ number }) => number),
      numbers,
    );
    assert.deepEqual(
      kinds.map(({ truth }) => truth),
      [true, false, null, true, false],
    );
    const [first, second] = kinds;
    assert(first && second);
    assert.deepEqual([...bytes(first, 'bytes')], [0, 255, 92]);
    assert.equal(bytes(second, 'bytes').length, 0);
    await held.rollback();
  });
});
