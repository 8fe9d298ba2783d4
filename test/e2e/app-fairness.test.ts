// Receivers of one app that hang must not stop the deliveries of another app.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { start } from '../api/harness.ts';
import { startHangingApp } from './hanging-app.ts';

describe('an app with 640 receivers that never answer', () => {
  it('does not delay the deliveries of another app', async () => {
    // Longer than any wait in this test, so that no slot is released meanwhile.
    await using service = await start({ env: { RINGBACK_TIMEOUT: '60s' } });
    await using hanging = await startHangingApp(service, 640);
    await using other = await hanging.other();
    await other.deliver(200);
    assert.equal(hanging.ended(), 0, 'all of them hang');
    await hanging.deliverToGood();
  });
});
