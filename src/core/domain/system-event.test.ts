import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { Ajv } from 'ajv';
import { isEventName } from './pattern.ts';
import { deadNotice, noticeNames, ownEvents, withoutSecrets } from './system-event.ts';

const facts = {
  event: 'e'.repeat(26),
  n: 3,
  eventName: 'order.created',
  subscription: 's'.repeat(26),
  url: 'https://user:password@receiver.example/hook?token=secret#part',
  reason: 'exhausted',
  attempts: 8,
  status: undefined,
  error: 'timeout',
  atMs: 0,
};

describe('withoutSecrets', () => {
  it('keeps origin and path', () => {
    assert.equal(withoutSecrets(facts.url), 'https://receiver.example/hook');
    assert.equal(withoutSecrets('http://a:1/{eventType}?x={eventType}'), 'http://a:1/{eventType}');
    assert.equal(withoutSecrets('http://a/@b'), 'http://a/@b');
  });
});

describe('deadNotice', () => {
  it('states in a sentence what happened, and what to do', () => {
    const { name, payload } = deadNotice(facts);
    assert.equal(name, 'ringback.delivery.dead');
    assert(!/secret|password/.test(payload));
    const { message }: { message: string } = JSON.parse(payload);
    const id = `dlv_${facts.event}_3`;
    assert.equal(
      message,
      `Delivery ${id} of event "order.created" to https://receiver.example/hook is dead-lettered: 8 attempts ` +
        `failed, the last: timeout. To send it again: POST /deliveries/${id}/retry`,
    );
  });

  it('states the reason, whatever it was', () => {
    const said = (changes: Partial<typeof facts>): string =>
      deadNotice({ ...facts, ...changes }).payload;
    assert.match(said({ attempts: 1 }), /its only attempt failed \(timeout\)/);
    const expired = said({ reason: 'expired', attempts: 0 });
    assert.match(expired, /it was still pending when its retention ended, after 0 attempts/);
  });
});

describe('ownEvents', () => {
  it('covers every name, with examples that match their schemas', () => {
    assert.deepEqual(new Set(ownEvents.map(({ event }) => event)), new Set(noticeNames));
    const ajv = new Ajv({ strict: true, formats: { 'date-time': true } });
    for (const { event, schema, example } of ownEvents) {
      assert(isEventName(event));
      assert(ajv.validate({ ...schema, additionalProperties: false }, example), ajv.errorsText());
      assert.equal(typeof example['message'], 'string');
    }
  });
});
