// Checked by the compiler alone (`npm run types`): the inputs of subscribe and publish. Each line after an
// `@ts-expect-error` must not compile.
import type { Client, EventInput, Replay, SubscribeOptions } from '../../src/client/client.ts';

const callbackUrl = 'https://receiver.example/hook';

export const subscribeInputs: SubscribeOptions[] = [
  { callbackUrl },
  { callbackUrl, event: 'order.created' },
  { callbackUrl, 'x-ringback': { events: ['order.*'], ordered: true, retry: null } },
  { successUrl: callbackUrl },
  { inProgressUrl: callbackUrl, failedUrl: callbackUrl, successUrl: undefined },
  // @ts-expect-error None of the three variants.
  {},
  // @ts-expect-error The variant query needs both.
  { event: 'order.created' },
  // @ts-expect-error Two variants at once.
  { callbackUrl, successUrl: callbackUrl },
  // @ts-expect-error Two variants at once.
  { callbackUrl, event: 'order.created', failedUrl: callbackUrl },
  // @ts-expect-error The three URLs come without an event.
  { successUrl: callbackUrl, event: 'order.created' },
  // @ts-expect-error At least one URL.
  { successUrl: undefined },
  // @ts-expect-error No such signature.
  { callbackUrl, 'x-ringback': { signing: 'rsa' } },
  // @ts-expect-error No such control.
  { callbackUrl, 'x-ringback': { order: true } },
];

const two = { callbackUrl, successUrl: callbackUrl };
// @ts-expect-error Two variants at once, even where the compiler does not check for excess properties.
export const twoAtOnce: SubscribeOptions = two;

export const events: EventInput[] = [
  { event: 'a', payload: null },
  { event: 'a', payloadText: '{}' },
  { event: 'a', subject: 'job_17', payload: null },
  // @ts-expect-error Neither.
  { event: 'a' },
  // @ts-expect-error Both.
  { event: 'a', payload: 1, payloadText: '1' },
];

export async function answers(client: Client): Promise<[string, number | null, Replay]> {
  const { subscriberId } = await client.subscribe({ callbackUrl });
  const { deliveries } = await client.publish({ event: 'a', payload: {}, subscriberId });
  await client.publish({ event: 'a', payload: {}, audience: 'all' });
  // @ts-expect-error No such audience.
  await client.publishBatch([], { audience: 'some' });
  // @ts-expect-error No such state.
  client.deliveries.list({ state: 'lost' });
  // @ts-expect-error Counting has its own method.
  return [subscriberId, deliveries, await client.replays.create({ dryRun: true })];
}
