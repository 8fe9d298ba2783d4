// Loads a corpus of real documents: each must load, and report the parts that cannot run.
import assert from 'node:assert/strict';
import { existsSync, globSync } from 'node:fs';
import { join, sep } from 'node:path';
import { describe, it } from 'node:test';
import type { Contract } from './model/contract.ts';
import { loadContract } from './compile/load.ts';

const corpus = join(import.meta.dirname, '..', '..', '..', 'shared', 'corpus', 'openapi');
const skip = existsSync(corpus) ? false : `there is no corpus at ${corpus}`;
const files = skip === false ? globSync('**/*.{yaml,yml,json}', { cwd: corpus }).toSorted() : [];

/** Expected warnings: parts of documents, undeclared security schemes, and so on. */
const told: Readonly<Record<string, RegExp>> = {
  'CAMARA_common.yaml': /it is part of other documents/,
  'CAMARA_event_common.yaml': /it is part of other documents/,
  'external-components-1.yaml': /it is part of other documents/,
  'external-components-2.yaml': /it is part of other documents/,
  'sample-api.yaml': /"petstore_auth" is not supported: it is not declared/,
  'callbacks.openapi.yaml': /"petstore_auth" is not supported: it is not declared/,
  'root.yaml': /already has the operationId "addPet"; .* "POST \/pet"/,
};

describe('loadContract over the corpus', { skip }, () => {
  for (const file of files) {
    it(file, async (context) => {
      const name = file.split(sep).at(-1) ?? '';
      // Some have parts in a folder beside their own.
      const contract = await loadContract(join(corpus, file), { contractRoot: corpus });
      const callbacks = check(contract);
      const warnings = contract.warnings.map(({ pointer, message }) => `${pointer} ${message}`);
      assert.match(warnings.join('\n'), told[name] ?? /^/);
      context.diagnostic(`${name}: ${callbacks}`);
    });
  }
});

/** Every schema compiles and every validator runs; returns a summary of the contract. */
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
