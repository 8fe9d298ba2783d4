// A second app of a running Ringback as a contender, to measure the effect of the first one on it.
import type { Ringback, Subscribed } from './ringback.ts';
import { callerOf, subscribed } from './ringback.ts';

/** Subscribes the app once per port. It ends with the first app. */
export async function secondApp(
  ringback: Ringback,
  { name, ports }: { name: string; ports: readonly number[] },
): Promise<Subscribed> {
  const { key } = await ringback.call('POST', '/apps', { name: 'second' });
  const headers = { ...ringback.publish.headers, 'x-api-key': String(key) };
  const call = callerOf(ringback.url, String(key));
  const publish = { ...ringback.publish, headers };
  const end = async (): Promise<void> => undefined;
  return subscribed({ ...ringback, name, call, publish, [Symbol.asyncDispose]: end }, ports);
}
