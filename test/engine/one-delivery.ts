// A delivery and its target, for tests of a single attempt.
import { noControls } from '../../src/core/domain/controls.ts';
import type { Leased } from '../../src/core/domain/delivery.ts';
import type { Target } from '../../src/store/port/delivery-verbs.ts';

export const leased: Leased = {
  event: '01jc4t6v8m3q5r7w9x1y2z3a4d',
  n: 0,
  eventName: 'a',
  payload: Buffer.from('{"message":"m"}'),
  trace: undefined,
  appNo: 1,
  lane: 1,
  callback: 1,
  version: 1,
  concurrency: undefined,
  tries: 0,
  attempts: 0,
  lease: 1,
};

export const owner = {
  appId: '01jc4t6v8m3q5r7w9x1y2z3a4c',
  subscriptionId: '01jc4t6v8m3q5r7w9x1y2z3a4b',
};

export const unsigned: Omit<Target, 'secrets'> = {
  callback: 1,
  lane: 1,
  version: 1,
  isActive: true,
  subscription: owner.subscriptionId,
  appNo: 1,
  appId: owner.appId,
  contract: 'Ringback',
  operation: 'subscribeOperation',
  definition: 'd',
  method: 'POST',
  url: 'http://127.0.0.1:9000/',
  controls: noControls,
  headers: undefined,
};
