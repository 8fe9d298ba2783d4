import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { bounds } from './bounds.ts';
import { readDocument } from './document.ts';
import {
  at,
  child,
  entries,
  errorAt,
  items,
  nameOf,
  openSource,
  target,
  text,
  warn,
} from './ref-node.ts';
import type { RefNode } from './ref-node.ts';

function open(root: unknown): RefNode {
  return openSource({ path: '/nowhere/api.yaml', root });
}

function warnings(place: RefNode): string[] {
  return place.source.warnings.map(({ pointer, message }) => `${pointer} ${message}`);
}

describe('child', () => {
  it('follows a reference when a member behind it is read', () => {
    const root = open({ a: { $ref: '#/b' }, b: { $ref: '#/c' }, c: { x: 1 } });
    assert.equal(at(root, 'a', 'x')?.value, 1);
    assert.deepEqual(at(root, 'a', 'x')?.tokens, ['c', 'x']);
  });

  it('prefers siblings of a reference', () => {
    const root = open({ a: { $ref: '#/c', x: 2 }, c: { x: 1, y: 3 } });
    assert.equal(at(root, 'a', 'x')?.value, 2);
    assert.deepEqual(
      entries(child(root, 'a')).map(([key, { value }]) => [key, value]),
      [
        ['x', 2],
        ['y', 3],
      ],
    );
  });

  it('decodes percent signs and pointer escapes, and accepts a stray percent sign', () => {
    const root = open({
      a: { $ref: '#/p/~1x~1%7Bid%7D/%25' },
      b: { $ref: '#/p/100%' },
      p: { '/x/{id}': { '%': { ok: 1 } }, '100%': { ok: 2 } },
    });
    assert.equal(at(root, 'a', 'ok')?.value, 1);
    assert.equal(at(root, 'b', 'ok')?.value, 2);
  });

  it('follows references through references, and into lists', () => {
    const root = open({
      a: { $ref: '#/b/list/1' },
      b: { $ref: '#/c' },
      c: { list: [0, { x: 5 }] },
    });
    assert.equal(at(root, 'a', 'x')?.value, 5);
    assert.equal(at(root, 'c', 'list', '01'), undefined);
    assert.equal(at(root, 'c', 'list', '2'), undefined);
    assert.equal(at(root, 'c', 'list', 'length'), undefined);
  });

  it('sees own properties only', () => {
    assert.equal(child(open({}), 'constructor'), undefined);
    assert.equal(child(open(null), 'a'), undefined);
  });

  it('treats only a string as a reference', () => {
    assert.equal(
      at(open({ a: { $ref: { type: 'string' } } }), 'a', '$ref', 'type')?.value,
      'string',
    );
  });
});

describe('target', () => {
  it('warns and continues if a reference leads nowhere', () => {
    const root = open({ a: { $ref: '#/b' } });
    assert.equal(at(root, 'a', 'x'), undefined);
    assert.equal(at(root, 'a', 'y'), undefined);
    assert.deepEqual(warnings(root), [
      '#/a Cannot follow $ref "#/b": nothing exists at that location',
    ]);
  });

  it('never opens the network', () => {
    for (const ref of ['https://x.example/a.yaml#/b', '//x.example/a', 'file:///etc/passwd']) {
      const root = open({ a: { $ref: ref } });
      assert.equal(at(root, 'a', 'x'), undefined);
      assert.match(warnings(root)[0] ?? '', /is a network URL, and only local files are read/);
    }
  });

  it('does not support anchors', () => {
    const root = open({ a: { $ref: '#name' } });
    assert.equal(at(root, 'a', 'x'), undefined);
    assert.match(warnings(root)[0] ?? '', /its fragment is "name", expected a JSON pointer/);
  });

  it('does not go in circles', () => {
    const root = open({ a: { $ref: '#/b' }, b: { $ref: '#/a' }, c: { $ref: '#/c/d' } });
    assert.equal(at(root, 'a', 'x'), undefined);
    assert.equal(at(root, 'c', 'x'), undefined);
    assert.ok(warnings(root).every((one) => /refers back to itself|nothing exists at/.test(one)));
  });

  it('is undefined without a reference', () => {
    assert.equal(target(open({})), undefined);
  });
});

describe('openSource', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ringback-place-'));
  after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'api'));
  mkdirSync(join(folder, 'common'));

  function write(name: string, content: unknown): string {
    const path = join(folder, name);
    writeFileSync(path, JSON.stringify(content));
    return path;
  }

  it('opens other files relative to the one that refers to them', () => {
    const path = write('api/root.yaml', {
      a: { $ref: '../common/b%20b.yaml#/x' },
      c: { $ref: '../common/b%20b.yaml' },
    });
    write('common/b b.yaml', { x: { $ref: '#/y' }, y: { $ref: 'c.yaml#/z' } });
    write('common/c.yaml', { z: { $ref: '../api/root.yaml#/c' } });
    const root = openSource(readDocument(path), { contractRoot: folder });
    const found = at(root, 'a', 'x');
    assert.deepEqual(found?.value, { $ref: '#/y' });
    assert.equal(found && nameOf(found), '../common/b b.yaml#/x');
    assert.equal(root.source.documents.size, 3);
    assert.deepEqual(warnings(root), []);
  });

  it('warns about files that cannot be opened, and about too many', () => {
    const refs = Object.fromEntries(
      Array.from({ length: bounds.documentsMax }, (_, n) => [`r${n}`, { $ref: `f${n}.yaml` }]),
    );
    const path = write('many.yaml', { ...refs, gone: { $ref: 'gone.yaml#/a' } });
    for (let n = 0; n < bounds.documentsMax; n += 1) write(`f${n}.yaml`, { n });
    const root = openSource(readDocument(path));
    assert.equal(at(root, 'gone', 'x'), undefined);
    for (const name of Object.keys(refs)) at(root, name, 'n');
    assert.equal(root.source.warnings.length, 3);
    assert.match(warnings(root)[0] ?? '', /Cannot follow \$ref "gone\.yaml#\/a": Cannot open /);
    assert.match(warnings(root)[1] ?? '', /it is file 513, expected at most 512/);
  });
});

describe('spend', () => {
  it('bounds the work that references multiply', () => {
    const wide = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`k${n}`, n]));
    const root = open({ a: { $ref: '#/b' }, b: wide });
    const look = (): void => {
      for (let n = 0; n <= bounds.stepsMax / 1_000; n += 1) entries(child(root, 'a'));
    };
    assert.throws(
      look,
      /Cannot load contract "\/nowhere\/api\.yaml": with its references followed, it takes more than/,
    );
  });
});

describe('warn', () => {
  it('records a warning once, and only a bounded number', () => {
    const root = open({});
    for (let n = 0; n < 3 * bounds.warningsMax; n += 1) warn(root, `message ${n >> 1}`);
    assert.equal(root.source.warnings.length, bounds.warningsMax + 1);
    assert.equal(root.source.warnings.at(-1)?.message, 'the rest is omitted');
  });
});

describe('items', () => {
  it('warns if the value is not a list', () => {
    const root = open({ a: { b: 1 }, c: [1, 2] });
    assert.deepEqual(items(child(root, 'a')), []);
    assert.deepEqual(
      items(child(root, 'c')).map(({ value, tokens }) => [value, tokens]),
      [
        [1, ['c', '0']],
        [2, ['c', '1']],
      ],
    );
    assert.deepEqual(items(undefined), []);
    assert.deepEqual(warnings(root), ['#/a is an object, expected a list; it is ignored']);
  });
});

describe('text', () => {
  it('is undefined for a value that is not a string', () => {
    const root = open({ a: 'x', b: 1 });
    assert.deepEqual(
      [text(root, 'a'), text(root, 'b'), text(root, 'c')],
      ['x', undefined, undefined],
    );
    assert.equal(text(undefined, 'a'), undefined);
  });
});

describe('errorAt', () => {
  it('names the action, the place and the reason', () => {
    const place = at(open({ 'a/b': { c: 1 } }), 'a/b', 'c');
    assert.ok(place);
    const error = errorAt(place, 'use it', 'it is 1');
    assert.equal(error.message, 'Cannot use it at #/a~1b/c: it is 1');
    assert.equal(error.pointer, '#/a~1b/c');
    assert.equal(error.file, '/nowhere/api.yaml');
  });
});
