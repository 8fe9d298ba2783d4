import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { composeAnswer } from './answer.ts';
import type { Answer } from './answer.ts';
import type { AnswerShape } from '../model/contract.ts';

const url = 'https://x.example/v1/hooks';

const plain: AnswerShape = {
  status: 201,
  mediaType: 'application/json',
  echoes: [],
  writeOnly: undefined,
  choices: [{ omits: [], fills: [] }],
  schema: undefined,
  idNumbers: [],
  idForm: 'prefixed',
  headers: [],
  idPointers: [['subscriberId']],
  secretPointer: undefined,
  location: undefined,
  links: [],
};

function compose(shape: Partial<AnswerShape>, body?: unknown, path: object = {}): Answer {
  const request = {
    header: new Map<string, string>(),
    query: new Map(),
    path: new Map(Object.entries(path)),
    body,
  };
  return composeAnswer({ ...plain, ...shape }, { request, url, id: 'sub_1', secret: 'whsec_1' });
}

describe('composeAnswer', () => {
  it('contains the id, and the secret if the response declares a property for it', () => {
    assert.deepEqual(compose({}), {
      status: 201,
      headers: {},
      mediaType: 'application/json',
      body: { subscriberId: 'sub_1' },
    });
    assert.deepEqual(compose({ secretPointer: ['secret'] }).body, {
      subscriberId: 'sub_1',
      secret: 'whsec_1',
    });
  });

  it('echoes the fields that the response declares', () => {
    const body = { url: 'x', token: 't', list: [1] };
    assert.deepEqual(compose({ echoes: ['url', 'list', 'absent'] }, body).body, {
      url: 'x',
      list: [1],
      subscriberId: 'sub_1',
    });
    assert.deepEqual(compose({ echoes: ['length', '0'] }, ['x']).body, { subscriberId: 'sub_1' });
    assert.deepEqual(compose({ echoes: ['url'] }, null).body, { subscriberId: 'sub_1' });
  });

  it('puts the id where the pointer says, beside the echoed fields', () => {
    const body = { data: { type: 'hook', id: 'mine' } };
    assert.deepEqual(compose({ echoes: ['data'], idPointers: [['data', 'id']] }, body).body, {
      data: { type: 'hook', id: 'sub_1' },
    });
    assert.deepEqual(body, { data: { type: 'hook', id: 'mine' } });
  });

  it('creates objects only, never lists', () => {
    assert.deepEqual(compose({ idPointers: [['ids', '0']] }).body, { ids: { '0': 'sub_1' } });
    assert.deepEqual(
      compose({ echoes: ['ids'], idPointers: [['ids', '0']] }, { ids: ['x'] }).body,
      {
        ids: { '0': 'sub_1' },
      },
    );
    assert.deepEqual(compose({ idPointers: [[]] }).body, {});
  });

  it('never touches a prototype', () => {
    const { body } = compose({
      idPointers: [
        ['__proto__', 'polluted'],
        ['constructor', 'x'],
      ],
    });
    assert.equal(
      JSON.stringify(body),
      '{"__proto__":{"polluted":"sub_1"},"constructor":{"x":"sub_1"}}',
    );
    assert.equal(Object.hasOwn(Object.prototype, 'polluted'), false);
    assert.equal(Object.hasOwn(Object, 'x'), false);
    const echoed = compose({ echoes: ['__proto__'] }, JSON.parse('{"__proto__":{"x":1}}'));
    assert.deepEqual(Object.getPrototypeOf(echoed.body), Object.prototype);
  });

  it('has no body where the status forbids one', () => {
    assert.equal(compose({ status: 204 }).body, undefined);
    assert.equal(compose({ status: 205 }).body, undefined);
  });

  it('names the location of the resource, encoded', () => {
    const location = { path: '/v1/{account}/hooks/{id}', id: 'id' };
    assert.deepEqual(compose({ location }, undefined, { account: 'a/b' }).headers, {
      location: '/v1/a%2Fb/hooks/sub_1',
    });
    assert.deepEqual(compose({ location }, undefined, { account: 5 }).headers, {
      location: '/v1/5/hooks/sub_1',
    });
    assert.deepEqual(compose({ location }).headers, {});
  });
});
