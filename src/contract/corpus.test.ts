// Real documents, all of them: each must load, or be refused for a reason that its author deserves.
import assert from 'node:assert/strict';
import { existsSync, globSync } from 'node:fs';
import { join, sep } from 'node:path';
import { describe, it } from 'node:test';
import type { Contract } from './contract.ts';
import { ContractError } from './document.ts';
import { loadContract } from './load.ts';

const corpus = join(import.meta.dirname, '..', '..', '..', 'shared', 'corpus', 'openapi');
const skip = existsSync(corpus) ? false : `there is no corpus at ${corpus}`;
const files = skip === false ? globSync('**/*.{yaml,yml,json}', { cwd: corpus }).toSorted() : [];

/** Parts of other documents, schemes that nobody declares, and an operationId that is used twice. */
const refused: Readonly<Record<string, RegExp>> = {
  'CAMARA_common.yaml': /"openapi" is missing/,
  'CAMARA_event_common.yaml': /"openapi" is missing/,
  'external-components-1.yaml': /"openapi" is missing/,
  'external-components-2.yaml': /"openapi" is missing/,
  'sample-api.yaml': /security scheme "petstore_auth" .* it is not declared/,
  'callbacks.openapi.yaml': /security scheme "petstore_auth" .* it is not declared/,
  'root.yaml': /operationId "addPet"/,
};

describe('loadContract over the corpus', { skip }, () => {
  for (const file of files) {
    it(file, async (context) => {
      const name = file.split(sep).at(-1) ?? '';
      const expected = refused[name];
      try {
        const contract = await loadContract(join(corpus, file));
        assert.equal(expected, undefined, 'expected it to be refused');
        const callbacks = check(contract);
        context.diagnostic(`${name}: ${callbacks}`);
      } catch (error) {
        assert.ok(error instanceof ContractError, String(error));
        assert.match(error.message, expected ?? /^$/);
        context.diagnostic(`${name}: refused: ${error.message}`);
      }
    });
  }
});

/** Every schema compiles and every validator answers; says what is in the contract. */
function check({ operations, warnings }: Contract): string {
  const roles = operations.map(({ role }) => role);
  const subscribes = roles.filter((role) => role.kind === 'subscribe');
  const callbacks = subscribes.flatMap(({ variants }) => variants.flatMap((one) => one.callbacks));
  for (const { payload } of callbacks) assert.ok(Array.isArray(payload?.check({}) ?? []));
  for (const { parameters, body } of operations) {
    for (const { schema } of parameters) assert.ok(Array.isArray(schema?.check('x') ?? []));
    for (const schema of body?.content.values() ?? []) {
      assert.ok(Array.isArray(schema?.check({}) ?? []));
    }
  }
  const ends = roles.filter(({ kind }) => kind === 'unsubscribe').length;
  const active = callbacks.filter(({ target }) => target !== undefined).length;
  return (
    `${operations.length} operations, ${subscribes.length} subscribe, ${ends} unsubscribe, ` +
    `${callbacks.length} callbacks (${active} active), ${warnings.length} warnings`
  );
}
