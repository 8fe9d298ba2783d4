import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventText, memberText } from './event-calls.ts';

describe('eventText', () => {
  it('writes a payload, with its addressee', () => {
    assert.equal(
      eventText({ event: 'a', payload: { b: null } }, {}),
      '{"event":"a","payload":{"b":null}}',
    );
    assert.equal(
      eventText({ event: 'a', payload: 1 }, { subscriberId: 'sub_1', contract: undefined }),
      '{"event":"a","subscriberId":"sub_1","payload":1}',
    );
    assert.equal(eventText({ event: 'a', payload: null }, {}), '{"event":"a","payload":null}');
    assert.equal(
      eventText({ event: 'a', subject: 'job_17', payload: 1 }, {}),
      '{"event":"a","subject":"job_17","payload":1}',
    );
    assert.equal(
      eventText({ event: 'a', payload: 1 }, { audience: 'all' }),
      '{"event":"a","audience":"all","payload":1}',
    );
  });

  it('keeps every character of a payload given as text', () => {
    const payloadText = '{ "b":12345678901234567890, "a":1.0, "\\u0061":"\\/" }';
    assert.equal(
      eventText({ event: 'a', payloadText }, {}),
      `{"event":"a","payload":${payloadText}}`,
    );
  });

  it('refuses text that is not a single JSON value, which could add members', () => {
    for (const payloadText of [
      '',
      '1,"subscriberId":"sub_1"',
      '{}}',
      '1 2',
      'undefined',
      '"\ud800"',
    ]) {
      assert.throws(
        () => eventText({ event: 'a', payloadText }, {}),
        /^TypeError: Cannot publish "a": its payloadText/,
      );
    }
  });

  it('refuses an event without a name, which would make invalid JSON', () => {
    for (const json of ['{"payload":1}', '{"event":null,"payload":1}', '{"event":7,"payload":1}']) {
      assert.throws(
        () => eventText(JSON.parse(json), {}),
        /^TypeError: Cannot publish an event whose name is of type \w+: expected a string$/,
      );
    }
  });

  it('refuses values that JSON cannot represent', () => {
    assert.throws(
      () => eventText({ event: 'a', payload: undefined }, {}),
      /cannot be represented in JSON/,
    );
    assert.throws(
      () => eventText({ event: 'a', payload: 1n }, {}),
      /for big integers, use payloadText/,
    );
    const both: object = { payload: 1, payloadText: '1' };
    assert.throws(() => eventText({ event: 'a', payload: 1, ...both }, {}), /expected one of them/);
  });
});

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
