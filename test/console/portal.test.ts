// The pure parts of the customer portal: its texts, its colours, its search and its form.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Callback, Subscription } from '../../src/client/contract/subscription.ts';
import { accentOf, colourOf, contrast } from '../../console/portal/accent.ts';
import { searchFor } from '../../console/portal/deliveries/search.ts';
import {
  changesOf,
  hasNoEvent,
  valuesOf,
  type FormValues,
} from '../../console/portal/endpoints/form-values.ts';
import { groupsOf, isIncluded, type EventType } from '../../console/portal/events/read-types.ts';
import { preferred } from '../../console/portal/language.ts';
import { de } from '../../console/portal/strings/de.ts';
import { en } from '../../console/portal/strings/en.ts';

/** Every text by its name; functions are called with numbers and with names. */
function textsOf(strings: unknown, name = ''): [name: string, text: string][] {
  if (typeof strings === 'string') return [[name, strings]];
  if (typeof strings === 'function') {
    return [1, 2, 'x'].map((given) => [`${name}(${given})`, String(strings(given, given, given))]);
  }
  assert(typeof strings === 'object' && strings !== null, name);
  return Object.entries(strings).flatMap(([key, value]) => textsOf(value, `${name}.${key}`));
}

function codeIn(text: string): string[] {
  const parts = text.split('`');
  assert.equal(parts.length % 2, 1, `"${text}" has a backtick too many`);
  return parts.filter((_part, at) => at % 2 === 1).toSorted();
}

describe('the strings', () => {
  it('are complete in both languages, and name the same code', () => {
    const [english, german] = [new Map(textsOf(en)), new Map(textsOf(de))];
    assert.deepEqual([...german.keys()].toSorted(), [...english.keys()].toSorted());
    for (const [name, text] of english) {
      assert.notEqual(text.trim(), '', name);
      assert.notEqual(german.get(name)?.trim(), '', name);
      assert.doesNotMatch(text + german.get(name), /undefined|NaN|\[object/, name);
      assert.deepEqual(codeIn(german.get(name) ?? ''), codeIn(text), name);
    }
  });

  it('are translated', () => {
    const german = new Map(textsOf(de));
    const same = textsOf(en).filter(
      ([name, text]) => german.get(name) === text && /[a-z]{2} [a-z]{2}/.test(text),
    );
    assert.deepEqual(same, []);
  });
});

describe('preferred', () => {
  it('takes the first known language, without its region', () => {
    assert.equal(preferred(['fr-FR', 'de-AT', 'en']), 'de');
    assert.equal(preferred(['EN-gb', 'de']), 'en');
    assert.equal(preferred(['fr', 'tlh']), 'en');
    assert.equal(preferred([]), 'en');
  });
});

describe('accentOf', () => {
  const some = ['#000000', '#ffffff', '#ffcc00', '#7c3aed', '#0b5fff', '#808080', '#ff0000'];
  const steps = ['00', '33', '66', '99', 'cc', 'ff'];
  const colours = [
    ...some,
    ...steps.flatMap((r) => steps.flatMap((g) => steps.map((b) => `#${r}${g}${b}`))),
  ];

  it('is readable as text in both themes, and below text on a button', () => {
    for (const hex of colours) {
      const accent = accentOf(hex);
      assert(accent);
      const between = (one: string, other: string): number =>
        contrast(colourOf(one), colourOf(other));
      for (const paper of ['#ffffff', '#f8f9f9', '#f1f4f3', '#fdecea', '#e3f4ec']) {
        assert.ok(between(accent.light, paper) >= 4.5, `${hex} as text on ${paper}`);
      }
      for (const paper of ['#141b1a', '#0d1312', '#1a2322', '#12302a', '#38191a']) {
        assert.ok(between(accent.dark, paper) >= 4.5, `${hex} as text on ${paper}`);
      }
      assert.equal(accent.fill, hex);
      assert.ok(between(accent.fill, accent.fillInk) >= 4.5, `text on ${hex}`);
      assert.ok(between(accent.fillHover, accent.fillInk) >= 4.5, `text on ${hex} when hovered`);
    }
  });

  it('keeps a colour that is readable already, and refuses what is none', () => {
    assert.equal(accentOf('#7c3aed')?.light, '#7c3aed');
    assert.equal(accentOf('#ffcc00')?.dark, '#ffcc00');
    for (const wrong of ['', 'red', '#fff', '#12345g', '#1234567', 'url(#x)']) {
      assert.equal(accentOf(wrong), undefined);
    }
  });
});

describe('searchFor', () => {
  const search = (text: string) => searchFor(text, ['order.paid', 'export']);
  const none = { subject: undefined, event: undefined, eventId: undefined };

  it('opens deliveries by ID, also by that of an attempt', () => {
    assert.deepEqual(search(' dlv_01jc_0 '), { deliveryId: 'dlv_01jc_0' });
    assert.deepEqual(search('att_01jc_0_12'), { deliveryId: 'dlv_01jc_0' });
  });

  it('filters by event, endpoint or subject, and clears the other ones', () => {
    assert.deepEqual(search('evt_01'), { filter: { ...none, eventId: 'evt_01' } });
    assert.deepEqual(search('sub_01'), { filter: { ...none, endpoint: 'sub_01' } });
    assert.deepEqual(search('order.paid'), { filter: { ...none, event: 'order.paid' } });
    assert.deepEqual(search('order.*'), { filter: { ...none, event: 'order.*' } });
    assert.deepEqual(search('ord_42'), { filter: { ...none, subject: 'ord_42' } });
    assert.deepEqual(search(''), { filter: { ...none, subject: '' } });
  });
});

describe('changesOf', () => {
  const callback: Callback = {
    position: 0,
    label: 'onData',
    event: '*',
    events: ['*'],
    method: 'POST',
    url: 'https://a.example/',
  };
  const endpoint = {
    id: 'sub_1',
    callbacks: [callback],
    description: 'Shop',
  } as unknown as Subscription;
  const values = valuesOf(endpoint);

  it('names only what was changed', () => {
    const changes = (change: Partial<FormValues>): unknown =>
      changesOf({ ...values, ...change }, endpoint);
    assert.deepEqual(changes({}), {});
    assert.deepEqual(changes({ description: ' ' }), { description: null });
    const urls = [{ position: 0, label: 'onData', url: ' https://b.example/ ' }];
    assert.deepEqual(changes({ urls }), {
      callbacks: [{ position: 0, url: 'https://b.example/' }],
    });
    assert.deepEqual(changes({ events: { isAll: false, chosen: ['order.*'] } }), {
      callbacks: [{ position: 0, events: ['order.*'] }],
    });
  });

  it('keeps events of Ringback next to all events', () => {
    const both = { ...endpoint, callbacks: [{ ...callback, events: ['ringback.ping', 'a'] }] };
    const all = { ...valuesOf(both), events: { isAll: true, chosen: ['ringback.ping', 'a'] } };
    assert.deepEqual(changesOf(all, both), {
      callbacks: [{ position: 0, events: ['*', 'ringback.ping'] }],
    });
  });

  it('offers no choice of events for several URLs', () => {
    const several = { ...endpoint, callbacks: [callback, { ...callback, position: 1 }] };
    assert.equal(valuesOf(several).events, undefined);
    assert.equal(hasNoEvent(valuesOf(several)), false);
    assert.equal(hasNoEvent({ ...values, events: { isAll: false, chosen: [] } }), true);
  });
});

describe('groupsOf', () => {
  it('groups by the first part of the name, other names last', () => {
    const types = ['ping', 'order.paid', 'order.item.added', 'a.b'].map(
      (event) => ({ event }) as EventType,
    );
    const groups = groupsOf(types).map(({ prefix, types: of }) => [prefix, of.length]);
    assert.deepEqual(groups, [
      ['order', 2],
      ['a', 1],
      ['', 1],
    ]);
    assert.ok(isIncluded('order.item.added', ['order.*']));
    assert.ok(isIncluded('ping', ['ping']));
    assert.ok(!isIncluded('orders', ['order.*']));
  });
});
