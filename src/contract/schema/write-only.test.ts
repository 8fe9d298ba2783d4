import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { at, openSource } from '../document/ref-node.ts';
import { compileWriteOnly, withoutWriteOnly } from './write-only.ts';

describe('withoutWriteOnly', () => {
  it('searches a bounded number of schemas, and leaves out what lies behind', () => {
    const count = 100;
    const names = Array.from({ length: count }, (_none, index) => `s${index}`);
    const all = names.map((name) => ({ $ref: `#/S/${name}` }));
    let looks = 0;
    const schemas = names.map((name) => [name, { allOf: all, additionalProperties: all[0] }]);
    const S = { ...Object.fromEntries(schemas), secret: { writeOnly: true } };
    const root = { openapi: '3.1.0', S, T: { properties: { p: { $ref: '#/S/secret' } } } };
    const source = openSource({ path: 'api.json', root });
    const compiled = compileWriteOnly([at(source, 'S', 's0'), at(source, 'T')]);
    assert(compiled);
    const body = Object.fromEntries(
      Array.from({ length: 5_000 }, (_none, index) => [
        `m${index}`,
        {
          get inside() {
            looks += 1;
            return 1;
          },
        },
      ]),
    );
    const shown = withoutWriteOnly({ ...body, p: 'password' }, compiled);
    assert(typeof shown === 'object' && shown !== null);
    const kept = Object.keys(shown);
    assert(kept.length > 0 && kept.length < 500, String(kept.length));
    assert(looks <= kept.length, String(looks));
    assert(!kept.includes('p'));
  });

  it('searches the schemas of a list once, however many items it has', () => {
    const S = { items: { properties: { q: {}, p: { writeOnly: true } } } };
    const place = at(openSource({ path: 'api.json', root: { openapi: '3.1.0', S } }), 'S');
    const compiled = compileWriteOnly([place]);
    assert(compiled);
    const list = Array.from({ length: 50_000 }, () => ({ p: 1, q: 2 }));
    const wanted = list.map(() => ({ q: 2 }));
    assert.deepEqual(withoutWriteOnly(list, compiled), wanted);
  });
});
