// Every ID leads to its page, and no secret gets into an address.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pathOfId, pathOfSearch } from '../../console/src/path-of-id.ts';

describe('pathOfId', () => {
  it('knows every kind of id', () => {
    const ids = [' dlv_01a_0 ', 'evt_01a', 'sub_01a', 'rpl_01a', 'att_01a_0_12'];
    assert.deepEqual(ids.map(pathOfId), [
      '/console/deliveries?delivery=dlv_01a_0',
      '/console/events?eventId=evt_01a',
      '/console/subscriptions?subscription=sub_01a',
      '/console/replays?replay=rpl_01a',
      '/console/deliveries?delivery=dlv_01a_0&attempt=12',
    ]);
  });
  it('uses only the id of a full key', () => {
    assert.equal(pathOfId('rbk_4fKz09QmSECRETSECRET'), '/console/keys?key=rbk_4fKz09Qm');
  });
  it('is undefined for anything else', () => {
    for (const text of [
      '',
      'order.created',
      'dlv_',
      'xyz_01a',
      'dlv_01a?x=1',
      'whsec_abc',
      'DLV_1',
    ]) {
      assert.equal(pathOfId(text), undefined);
    }
  });
});

describe('pathOfSearch', () => {
  it('takes everything else for the name of a subject or a customer', () => {
    assert.equal(pathOfSearch(' evt_01a '), '/console/events?eventId=evt_01a');
    assert.equal(pathOfSearch(' job_17 '), '/console/search?text=job_17');
    assert.equal(pathOfSearch('a b&c'), '/console/search?text=a+b%26c');
  });
  it('is undefined for nothing, for secrets, and for texts that are too long', () => {
    for (const text of ['', '  ', 'whsec_abc', 'whsk_abc', 'rbk_', 'x'.repeat(257)]) {
      assert.equal(pathOfSearch(text), undefined, text);
    }
  });
});
