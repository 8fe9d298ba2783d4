import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { memberText } from './json-member.ts';

describe('memberText', () => {
  it('gives the text as it was sent, whatever it is', () => {
    const values = [
      '12345678901234567890123',
      '-1.50e+3',
      'true',
      'null',
      '"a \\"quoted\\" } , text\\\\"',
      '{ "b": [1, {"payload": "]}"}], "c":{} }',
      '[ ]',
      '{}',
    ];
    for (const value of values) {
      assert.equal(memberText(`{"id":"x","payload":${value}}`, 'payload'), value);
      const spaced = ` {\n "a" : {"payload":0}, "payload" :\t${value} , "z":[1,"}"] }`;
      assert.equal(memberText(spaced, 'payload'), value);
    }
  });

  it('takes the last of several, as JSON.parse does, however its name is written', () => {
    assert.equal(memberText('{"payload":1,"p\\u0061yload":2}', 'payload'), '2');
  });

  it('says when there is none', () => {
    assert.equal(memberText('{}', 'payload'), undefined);
    assert.equal(memberText('{"a":{"payload":1},"b":"payload"}', 'payload'), undefined);
  });

  it('reads a payload as large as they come', () => {
    const text = `"${'\\"'.repeat(500_000)}"`;
    assert.equal(memberText(`{"payload":${text}}`, 'payload'), text);
  });
});
