import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { bounds } from './bounds.ts';
import { ContractError, isList, isObject, own, readDocument } from './document.ts';

const folder = mkdtempSync(join(tmpdir(), 'ringback-document-'));
after(() => rmSync(folder, { recursive: true }));

/** A regular file that reports size 0 but has content, as if it had grown since it was opened. */
const changing = '/proc/self/status';

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

function refusal(path: string): ContractError {
  try {
    readDocument(path);
  } catch (error) {
    assert.ok(error instanceof ContractError);
    return error;
  }
  throw new assert.AssertionError({ message: 'expected it to be refused' });
}

describe('readDocument', () => {
  it('reads YAML, with dates as strings, merge keys and numbers as keys', () => {
    const path = write(
      'a.yaml',
      'base: &base { a: 1 }\nx: { <<: *base, on: 2026-11-15 }\nresponses: { 200: ok }\n',
    );
    assert.deepEqual(readDocument(path), {
      path,
      root: { base: { a: 1 }, x: { a: 1, on: '2026-11-15' }, responses: { '200': 'ok' } },
    });
  });

  it('reads JSON with tabs and a byte order mark', () => {
    assert.deepEqual(readDocument(write('b.json', '\uFEFF{\n\t"a": [1]\n}')).root, { a: [1] });
  });

  it('reads a key called __proto__ as a key', () => {
    for (const name of ['p.yaml', 'p.json']) {
      const { root } = readDocument(write(name, '{"__proto__": {"polluted": true}}'));
      assert.ok(isObject(root));
      assert.equal(root['polluted'], undefined);
      assert.deepEqual(Object.keys(root), ['__proto__']);
    }
  });

  it('says where a file is malformed', () => {
    assert.match(refusal(write('c.yaml', 'a: [1')).message, /^Cannot read ".*c\.yaml": .*\(2:1\)/);
    assert.match(refusal(write('d.yaml', 'a: 1\na: 2')).message, /duplicated mapping key/);
    assert.match(refusal(write('e.json', '{"a"')).message, /^Cannot read ".*e\.json": /);
  });

  it('opens regular files only', () => {
    mkdirSync(join(folder, 'dir.yaml'));
    assert.match(refusal(join(folder, 'dir.yaml')).message, /it is not a regular file/);
    assert.match(refusal('/dev/zero').message, /it is not a regular file/);
    const missing = refusal(join(folder, 'missing.yaml'));
    assert.match(missing.message, /^Cannot open ".*missing\.yaml": ENOENT/);
    assert.equal(missing.file, join(folder, 'missing.yaml'));
    assert.equal(missing.pointer, '#');
  });

  it('refuses a file that keeps changing', { skip: !existsSync(changing) && 'no /proc' }, () => {
    assert.match(refusal(changing).message, /^Cannot open ".*": it changed while being read$/);
  });

  it('subtracts what it read from the budget', () => {
    const budget = { bytes: 100, nodes: 100 };
    const path = write('budget.json', '{"a": [1, 2]}');
    readDocument(path, budget);
    assert.deepEqual(budget, { bytes: 100 - 13, nodes: 100 - 5 });
    assert.throws(() => readDocument(path, { bytes: 12, nodes: 100 }), /it has 13 bytes, expected/);
    assert.throws(() => readDocument(path, { bytes: 100, nodes: 4 }), /it contains more than/);
    const yaml = write('budget.yaml', 'a: [1, 2]');
    assert.throws(() => readDocument(yaml, { bytes: 100, nodes: 2 }), /it contains more than/);
  });

  it('refuses a file that is too large', () => {
    const path = write('large.yaml', '');
    truncateSync(path, bounds.documentBytesMax + 1);
    assert.match(refusal(path).message, /it has 33554433 bytes, expected at most 33554432/);
  });
});

describe('isObject, isList, own', () => {
  it('recognise plain objects, lists and own properties', () => {
    assert.deepEqual([{}, [], null, 'x'].map(isObject), [true, false, false, false]);
    assert.deepEqual([{}, [], null, 'x'].map(isList), [false, true, false, false]);
    assert.equal(own({}, 'toString'), undefined);
    assert.equal(own({ a: 1 }, 'a'), 1);
  });
});
