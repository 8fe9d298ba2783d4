// The pure parts of the settings form: the request it sends, and where it shows errors.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Subscription } from '../../src/client/contract/subscription.ts';
import { eventSummary } from '../../console/src/subscriptions/event-summary.ts';
import { filterText, valueText } from '../../console/src/subscriptions/filter-text.ts';
import { errorAt, isNotAt } from '../../console/src/subscriptions/settings-errors.ts';
import {
  changesOf,
  valuesOf,
  type SettingsValues,
} from '../../console/src/subscriptions/settings-values.ts';

const callback = { label: 'myEvent', event: 'a', method: 'POST', url: 'http://r.example' };
const chosen: Pick<Subscription, 'callbacks' | 'ordered'> & Partial<Subscription> = {
  callbacks: [
    { ...callback, position: 0, events: ['a'], inactive: 'It has no URL' },
    { ...callback, position: 1, events: ['order.*', 'b'] },
    { ...callback, position: 2, events: ['*'] },
  ],
  description: 'Orders',
  customer: 'cus_1',
  filter: { '/country': ['DE', 'AT'], '/paid': [true] },
  retry: [],
  timeout: '5s',
  rateLimit: 0.5,
  ordered: true,
  headerNames: ['X-Team'],
  expiresAt: '2030-01-31T12:00:07.000Z',
};

function sent(changed: Partial<SettingsValues>): unknown {
  const before = valuesOf(chosen);
  const changes = changesOf(before, { ...before, ...changed });
  return changes.kind === 'changes' ? JSON.parse(changes.json) : changes;
}

describe('changesOf', () => {
  it('sends nothing if nothing was changed, even with seconds in the time', () => {
    assert.deepEqual(sent({}), { kind: 'none' });
    assert.deepEqual(sent({ description: ' Orders ' }), { kind: 'none' });
  });

  it('sends null for cleared fields', () => {
    const emptied = { description: ' ', filter: '', retry: '', timeout: '', rateLimit: '' };
    const nulls = { description: null, filter: null, retry: null, timeout: null, rateLimit: null };
    assert.deepEqual(sent({ ...emptied, expiresAt: '' }), { ...nulls, expiresAt: null });
    assert.deepEqual(sent({ customer: '' }), { customer: null });
    assert.deepEqual(sent({ ordered: false }), { ordered: false });
    assert.deepEqual(sent({ retry: ' , ' }), { retry: null });
  });

  it('sends only changed fields, in the format of the service', () => {
    assert.deepEqual(sent({ rateLimit: '5', concurrency: '4' }), { rateLimit: 5, concurrency: 4 });
    assert.deepEqual(sent({ customer: ' cus_2 ' }), { customer: 'cus_2' });
    assert.deepEqual(sent({ retry: '5s, 5m 2h' }), { retry: ['5s', '5m', '2h'] });
    assert.deepEqual(sent({ expiresAt: '2031-01-31T12:00' }), {
      expiresAt: new Date(2031, 0, 31, 12).toISOString(),
    });
  });

  it('never sends null for an invalid number', () => {
    assert.deepEqual(sent({ rateLimit: 'fast' }), { rateLimit: 'fast' });
    assert.deepEqual(sent({ rateLimit: '1e999' }), { rateLimit: '1e999' });
  });

  it('sends the events of changed callbacks', () => {
    const before = valuesOf(chosen);
    assert.deepEqual(before.events, { 1: 'order.*, b', 2: '*' });
    const changes = changesOf(before, { ...before, events: { ...before.events, 2: 'x y,z' } });
    assert(changes.kind === 'changes');
    assert.deepEqual(changes.positions, [2]);
    assert.equal(changes.json, '{"callbacks":[{"position":2,"events":["x","y","z"]}]}');
  });

  it('keeps names with spaces, commas and quotes, which are shown in quotes', () => {
    const names = ['order created', 'a,b', 'say "hi"', 'plain.*'];
    const before = valuesOf({
      ...chosen,
      callbacks: [{ ...callback, position: 0, events: names }],
    });
    assert.equal(before.events[0], '"order created", "a,b", "say \\"hi\\"", plain.*');
    assert.equal(changesOf(before, { ...before }).kind, 'none');
    const added = { ...before, events: { 0: `${before.events[0] ?? ''} "x` } };
    const changes = changesOf(before, added);
    assert(changes.kind === 'changes');
    assert.deepEqual(JSON.parse(changes.json), {
      callbacks: [{ position: 0, events: [...names, '"x'] }],
    });
  });

  it('sends a filter exactly as written', () => {
    const before = valuesOf(chosen);
    const changes = changesOf(before, { ...before, filter: '{"/a": 1e999}' });
    assert(changes.kind === 'changes');
    assert.equal(changes.json, '{"filter":{"/a": 1e999}}');
  });

  it('reads one header per line, and names an invalid line', () => {
    const headers = 'X-Team: search \n\nAuthorization:Bearer a:b';
    assert.deepEqual(sent({ headers }), {
      headers: { 'X-Team': 'search', Authorization: 'Bearer a:b' },
    });
    assert.deepEqual(sent({ removesHeaders: true, headers }), { headers: null });
    const faulty = (text: string): unknown => ({ kind: 'invalid', formErrors: { headers: text } });
    assert.deepEqual(
      sent({ headers: 'A: b\nsearch' }),
      faulty('Line 2: expected a name, a colon and a value.'),
    );
    assert.deepEqual(
      sent({ headers: 'A: b\nA: c' }),
      faulty('Line 2: A appears twice, expected each name once.'),
    );
  });
});

describe('errorAt', () => {
  const errors = [
    { field: 'body#/rateLimit', message: 'must be at most 1000, is 5000' },
    { field: 'body#/retry/1', message: 'is "5", expected a duration' },
    { field: 'body#/filter/~1a~1b', message: 'is an object, expected a string' },
    { field: 'body#/state', message: 'is odd' },
  ];
  it('finds the error of the field, of the item and of the member', () => {
    const retry = { at: 'body#/retry', item: 'Delay' };
    assert.equal(
      errorAt(errors, { at: 'body#/rateLimit' }),
      'The value must be at most 1000, is 5000.',
    );
    assert.equal(errorAt(errors, retry), 'Delay 2 is "5", expected a duration.');
    assert.equal(errorAt(errors, { at: 'body#/filter' }), '/a/b is an object, expected a string.');
    assert.equal(errorAt(errors, { at: 'body#/rate' }), undefined);
  });

  it('leaves errors without a field to others', () => {
    const left = errors.filter((one) => isNotAt(one, [{ at: 'body#/retry' }]));
    assert.deepEqual(
      left.map(({ field }) => field),
      ['body#/rateLimit', 'body#/filter/~1a~1b', 'body#/state'],
    );
  });
});

describe('the words for filters and events', () => {
  it('writes a filter that reads back as the same', () => {
    const text = filterText({ '/country': ['DE', 'AT'], '/paid': [true], '/"': [null] });
    assert.equal(text, '{\n  "/country": ["DE", "AT"],\n  "/paid": true,\n  "/\\"": null\n}');
  });

  it('quotes a string that could be mistaken for another value', () => {
    const values = ['DE', 'true', '5', 'two words', '', 5, null];
    assert.deepEqual(values.map(valueText), [
      'DE',
      '"true"',
      '"5"',
      '"two words"',
      '""',
      '5',
      'null',
    ]);
  });

  it('names system events in addition to every event', () => {
    const events = ['*', 'order.paid', 'ringback.delivery.dead'];
    assert.equal(eventSummary([{ events }]), 'Every event, ringback.delivery.dead');
    assert.equal(eventSummary([{ events: ['a', 'b'] }, { events: ['b'] }]), 'a, b');
  });
});
