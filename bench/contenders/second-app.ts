// A second app of a Ringback that runs, as a contender of its own: what it feels of the first one.
import type { Ringback, Subscribed } from './ringback.ts';
import { callerOf, subscribed } from './ringback.ts';

/** One subscription of the app for each port. It goes with the first one. */
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
