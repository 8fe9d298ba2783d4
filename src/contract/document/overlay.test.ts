import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { load } from 'js-yaml';
import { ContractError, fullBudget } from './document.ts';
import { applyOverlays, type Overlaid } from './overlay.ts';

const folder = mkdtempSync(join(tmpdir(), 'ringback-overlay-'));
after(() => rmSync(folder, { recursive: true }));

let count = 0;

function write(text: string): string {
  count += 1;
  const file = join(folder, `overlay-${count}.yaml`);
  writeFileSync(file, text);
  return file;
}

function apply(document: string, ...overlays: string[]): Overlaid {
  const files = overlays.map(write);
  return applyOverlays(
    { path: join(folder, 'api.yaml'), root: load(document) },
    files,
    fullBudget(),
  );
}

function actions(list: string): string {
  return `{ overlay: 1.0.0, info: { title: T, version: 1 }, actions: ${list} }`;
}

function result(document: string, ...lists: string[]): unknown {
  return apply(document, ...lists.map(actions)).document.root;
}

describe('applyOverlays', () => {
  it('merges objects at any depth, replaces values and joins lists', () => {
    assert.deepEqual(
      result(
        '{ a: { b: { c: 1, keep: 2 }, list: [1] } }',
        '[{ target: $.a, update: { b: { c: 3, d: 4 }, list: [2], e: null } }]',
      ),
      { a: { b: { c: 3, keep: 2, d: 4 }, list: [1, 2], e: null } },
    );
  });

  it('appends to a list, and changes every target', () => {
    const list =
      "[{ target: '$.tags', update: { name: new } }, { target: '$.tags[*]', update: { x: 1 } }]";
    assert.deepEqual(result('{ tags: [{ name: old }] }', list), {
      tags: [
        { name: 'old', x: 1 },
        { name: 'new', x: 1 },
      ],
    });
  });

  it('removes, in lists from the end, whatever the order', () => {
    assert.deepEqual(
      result(
        '{ l: [0, 1, 2, 3], m: { a: 1, b: 2 } }',
        "[{ target: '$.l[0, 2]', remove: true }, { target: $.m.a, remove: true }]",
      ),
      { l: [1, 3], m: { b: 2 } },
    );
    assert.deepEqual(result('{ l: [[0], [1]] }', "[{ target: '$.l..*', remove: true }]"), {
      l: [],
    });
  });

  it('applies several overlays one after the other', () => {
    const one = '[{ target: $, update: { a: { b: 1 } } }]';
    assert.deepEqual(result('{}', one, '[{ target: $.a, update: { c: 2 } }]'), {
      a: { b: 1, c: 2 },
    });
  });

  it('changes one place only where the document shares it by an alias', () => {
    const shared = '{ a: &it { x: 1 }, b: *it }';
    assert.deepEqual(result(shared, '[{ target: $.a, update: { x: 2 } }]'), {
      a: { x: 2 },
      b: { x: 1 },
    });
  });

  it('does not touch prototypes', () => {
    const root = result('{ a: {} }', '[{ target: $.a, update: { __proto__: { polluted: 1 } } }]');
    assert.equal(({} as { polluted?: number }).polluted, undefined);
    assert.equal(JSON.stringify(root), '{"a":{"__proto__":{"polluted":1}}}');
  });

  it('warns of a target that matches nothing', () => {
    const { warnings } = apply('{ a: 1 }', actions('[{ target: $.b, update: {} }]'));
    assert.match(warnings.join(), /^overlay .*, #\/actions\/0: target "\$\.b" matches nothing$/);
  });

  it('leaves alone what it does not extend', () => {
    const text = (name: string): string =>
      actions('[{ target: $, update: { a: 1 } }]').replace('{', `{ extends: ${name}, `);
    assert.deepEqual(apply('{}', text('api.yaml')).document.root, { a: 1 });
    assert.deepEqual(apply('{}', text('other.yaml')).document.root, {});
    assert.deepEqual(apply('{}', text('https://x.example/api.yaml')).document.root, { a: 1 });
  });

  const faults: readonly [string, string, RegExp][] = [
    ['{ openapi: 3.0.0 }', '#', /field "overlay" is missing, expected 1\.0\.0/],
    ['{ overlay: 2.0.0 }', '#', /field "overlay" is "2\.0\.0"/],
    ['{ overlay: 1.0.0 }', '#', /field "actions" is missing, expected a list/],
    [actions('[1]'), '#/actions/0', /expected an object with "target"/],
    [actions('[{ update: {} }]'), '#/actions/0', /"target" is missing, expected a JSONPath/],
    [actions("[{ target: '$[1:2]' }]"), '#/actions/0', /at character 4 of the target "\$\[1:2\]"/],
    [actions('[{ target: $ }]'), '#/actions/0', /expected "update", or "remove: true"/],
    [
      actions('[{ target: $.a, update: {} }]'),
      '#/actions/0',
      /target #\/a is neither an object nor/,
    ],
    [actions('[{ target: $.b, update: 3 }]'), '#/actions/0', /expected "update" to be an object/],
    [actions('[{ target: $, remove: true }]'), '#/actions/0', /whole document, which cannot be/],
  ];
  for (const [overlay, pointer, message] of faults) {
    it(`refuses ${overlay}`, () => {
      assert.throws(
        () => apply('{ a: 1, b: {} }', overlay),
        (error) =>
          error instanceof ContractError &&
          error.pointer === pointer &&
          message.test(error.message),
      );
    });
  }

  it('refuses overlays that take too much work, or make the document too large', () => {
    const wide = JSON.stringify({ l: Array.from({ length: 2_000 }, () => ({})) });
    const deep = '$' + '..*'.repeat(1) + '[?@..x]'.repeat(1);
    const all = actions(
      `[${Array.from({ length: 1_000 }, () => `{ target: '${deep}', update: {} }`).join()}]`,
    );
    assert.throws(() => apply(wide, all), /take more than \d+ steps/);
    const big = JSON.stringify({ x: 'y'.repeat(100_000) });
    assert.throws(
      () => apply(wide, actions(`[{ target: '$.l[*]', update: ${big} }]`)),
      /it expands to more/,
    );
  });
});
