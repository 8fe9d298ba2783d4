import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { memberText } from './event-calls.ts';

describe('memberText', () => {
  it('returns the text as sent, whatever the value', () => {
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

  it('takes the last of several, like JSON.parse, however the name is escaped', () => {
    assert.equal(memberText('{"payload":1,"p\\u0061yload":2}', 'payload'), '2');
  });

  it('returns undefined if there is none', () => {
    assert.equal(memberText('{}', 'payload'), undefined);
    assert.equal(memberText('{"a":{"payload":1},"b":"payload"}', 'payload'), undefined);
  });

  it('reads a payload of the largest size', () => {
    const text = `"${'\\"'.repeat(500_000)}"`;
    assert.equal(memberText(`{"payload":${text}}`, 'payload'), text);
  });
});
