import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compileContent, coveringType, essenceOf, isJson, jsonContent } from './media.ts';
import { openSource } from '../document/ref-node.ts';

describe('essenceOf', () => {
  it('drops parameters, spaces and case', () => {
    assert.equal(essenceOf(' Application/JSON ; charset=utf-8'), 'application/json');
  });
});

describe('isJson', () => {
  it('recognises JSON and the types built on it', () => {
    const types = ['application/json; a=b', 'application/cloudevents+json', 'text/json'];
    assert.deepEqual(types.map(isJson), [true, true, true]);
    assert.deepEqual(
      ['application/jsonp', 'text/plain', 'json', ''].map(isJson),
      Array(4).fill(false),
    );
  });
});

describe('coveringType', () => {
  function covering(declared: string[], mediaType: string): string | undefined {
    return coveringType(new Map(declared.map((one) => [one, 1])), mediaType);
  }

  it('prefers the exact type, then JSON, then a range', () => {
    const all = ['*/*', 'application/*', 'application/json', 'application/x+json'];
    assert.equal(covering(all, 'Application/X+JSON; v=1'), 'application/x+json');
    assert.equal(covering(all, 'application/y+json'), 'application/json');
    assert.equal(covering(all, 'application/xml'), 'application/*');
    assert.equal(covering(all, 'text/plain'), '*/*');
  });

  it('returns undefined if no declared type covers it', () => {
    assert.equal(covering(['application/json', 'text/*'], 'application/xml'), undefined);
    assert.equal(covering(['application/x+json'], 'application/json'), undefined);
    assert.equal(covering(['application/json'], 'nonsense'), undefined);
  });
});

describe('compileContent', () => {
  it('creates validators by type, and skips extensions', () => {
    const content = compileContent(
      openSource({
        path: 'a',
        root: {
          'Application/JSON; charset=utf-8': { schema: { type: 'string' } },
          'text/plain': {},
          'x-note': 'hi',
        },
      }),
    );
    assert.deepEqual([...content.keys()], ['application/json', 'text/plain']);
    assert.equal(
      content.get('application/json')?.place,
      '#/Application~1JSON; charset=utf-8/schema',
    );
    assert.equal(content.get('text/plain'), undefined);
  });
});

describe('jsonContent', () => {
  function json(...types: string[]): string | undefined {
    const root = Object.fromEntries(types.map((one) => [one, { schema: {} }]));
    return jsonContent(openSource({ path: 'a', root }))?.mediaType;
  }

  it('prefers plain JSON, then a type built on it, then a range', () => {
    assert.equal(json('*/*', 'application/a+json', 'application/json'), 'application/json');
    assert.equal(json('text/xml', '*/*', 'Application/A+JSON'), 'application/a+json');
    assert.equal(json('text/xml', '*/*'), 'application/json');
    assert.equal(json('text/xml'), undefined);
    assert.equal(jsonContent(undefined), undefined);
  });
});
