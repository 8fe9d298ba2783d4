import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { seededChance } from '../sim/chance.ts';
import { readDocument } from './document.ts';
import { misfits } from './schema-errors.ts';
import { fuzz } from './part.ts';
import { spoilBody } from './spoil.ts';

const document = readDocument();

describe('fuzz', () => {
  it('finds nothing', async () => {
    const findings = await fuzz.prove({ scale: 'small', seed: 1, say: () => undefined });
    for (const { part, violations } of findings) assert.deepEqual(violations, [], part);
    const [all] = findings;
    assert(Number(all?.figures['succeeded']) > 50);
  });
});

describe('misfits', () => {
  const problem = { $ref: '#/components/schemas/Problem' };
  const good = {
    type: '/docs#x',
    title: 'x',
    status: 400,
    code: 'x',
    detail: 'x',
    requestId: 'x',
    errors: [{ field: 'a', message: 'b' }],
  };

  it('is content with what fits', () => {
    assert.deepEqual(misfits(document, problem, good, 'nothing undeclared'), []);
  });

  it('finds what is missing, of another type, or not declared, wherever it stands', () => {
    const { title: _title, ...rest } = good;
    const odd = { ...rest, status: '400', errors: [{ field: 'a', message: 'b', more: 1 }] };
    assert.deepEqual(misfits(document, problem, odd, 'nothing undeclared'), [
      '/title is missing',
      '/status is no integer',
      '/errors/0/more is not declared',
    ]);
  });

  it('knows formats, enums, patterns and null', () => {
    const flaws = (name: string, value: unknown): number =>
      misfits(document, { $ref: `#/components/schemas/${name}` }, value).length;
    assert.equal(flaws('ExpiresAt', '2030-01-31T12:00:00Z') + flaws('ExpiresAt', null), 0);
    assert.equal(flaws('ExpiresAt', '+010000-01-01T00:00:00Z'), 1);
    assert.equal(flaws('ExpiresAt', '2030-02-30T12:00:00Z'), 1);
    assert.equal(flaws('EventName', 'a.b'), 0);
    assert.equal(flaws('EventName', 'a\0'), 1);
    assert.equal(flaws('DeliveryState', 'gone'), 1);
  });
});

describe('spoilBody', () => {
  it('breaks a rule, or gives nothing', () => {
    const operation = document.operations.find(({ operationId }) => operationId === 'createKey');
    const schema = operation?.body?.schema ?? {};
    const value = { name: 'one', scopes: ['read'] };
    for (let seed = 0; seed < 200; seed += 1) {
      const spoiled = spoilBody(document, seededChance(seed), { schema, value });
      if (spoiled?.value === undefined) continue;
      assert.notDeepEqual(misfits(document, schema, spoiled.value), [], spoiled.rule);
    }
  });
});
