// A burst of subscribes of one app. The first is stuck in the database while it holds the lock on the row of the app.
// Publishes of the app must continue, and a subscribe that was reported as not done must not take effect later.
import { startNode, type ClusterNode } from '../../e2e/cluster.ts';
import { receive } from '../../e2e/receiver.ts';
import { freshDatabase, type Database } from '../../postgres/database.ts';
import { startProxy } from '../../postgres/proxy.ts';
import { changedSource, type SourceChange } from '../controls/change-source.ts';
import type { Finding } from '../finding.ts';

export interface BurstOptions {
  clients: number;
  publishes: number;
  changes?: readonly SourceChange[];
}

export async function burst({ clients, publishes, changes = [] }: BurstOptions): Promise<Finding> {
  await using database = await freshDatabase();
  await using proxy = await startProxy(database.url);
  const changed = changes.length > 0 ? changedSource(changes) : {};
  // Subscribes must run out of time, whatever the timeout of all tests is.
  const env = { RINGBACK_STORE_TIMEOUT: '3s', ...changed };
  await using node = await startNode({ url: proxy.url, name: 'node', env });
  await using receiver = await receive(() => 200);
  await subscribe(node, 'order.created', receiver.url);
  const held = proxy.hold('before', ({ sql = '' }) => sql.includes('insert into subscription'));
  const answers = new Map<string, string>();
  const ask = async (event: string): Promise<void> => {
    answers.set(event, await subscribe(node, event));
  };
  const asked = [ask('burst.0')];
  await held;
  for (let i = 1; i < clients; i += 1) asked.push(ask(`burst.${i}`));
  const violations: string[] = [];
  const first = await publish(node);
  const ended = [...answers.values()].filter((text) => !text.includes(notProcessed)).length;
  if (first !== 202 || ended > 0) {
    violations.push(`a publish waited for subscribes: ${first} after ${ended} of them`);
  }
  const statuses = [first];
  for (let i = 1; i < publishes; i += 1) statuses.push(await publish(node));
  await Promise.all(asked);
  proxy.resume();
  while ((await subscribe(node, 'behind.all')) !== subscribed) continue;
  const refused = statuses.filter((status) => status !== 202).length;
  if (refused > 0) violations.push(`${refused} publishes were refused`);
  const told = Map.groupBy(answers.keys(), (event) => answers.get(event) ?? '');
  const toldOf = (text: string): string[] =>
    [...told].flatMap(([what, some]) => (what.includes(text) ? some : []));
  const undone = [...toldOf(nothingChanged), ...toldOf(notProcessed)];
  if (toldOf(nothingChanged).length === 0)
    violations.push('void: no subscribe was answered with "Nothing was changed"');
  const there = await eventsHeard(database);
  const later = undone.filter((event) => there.has(event));
  if (later.length > 0) {
    violations.push(
      `a subscribe happened although its response denied it: ${later.length} of them`,
    );
  }
  const lost = (told.get(subscribed) ?? []).filter((event) => !there.has(event));
  if (lost.length > 0)
    violations.push(`I1: ${lost.length} subscribes were acknowledged and are lost`);
  return {
    part: 'postgres: a burst of subscribes behind a database that does not answer one',
    figures: {
      'clients that subscribe': clients,
      'told that nothing was changed': toldOf(nothingChanged).length,
      'refused at once': toldOf(notProcessed).length,
      'publishes accepted meanwhile': statuses.length - refused,
    },
    violations,
  };
}

const subscribed = 'subscribed';
const nothingChanged = 'Nothing was changed';
/** Refused at once, because the app has too many requests in progress. */
const notProcessed = 'The request was not processed';

/** Returns `subscribed`, or the text of the refusal. */
async function subscribe(
  node: ClusterNode,
  event: string,
  callbackUrl = 'http://127.0.0.1:9000/',
): Promise<string> {
  const query = new URLSearchParams({ callbackUrl, event });
  const path = `/subscribe?${query.toString()}`;
  const { status, text } = await node.call({ method: 'POST', path });
  return status === 201 ? subscribed : text;
}

async function publish(node: ClusterNode): Promise<number> {
  const body = { event: 'order.created', payload: { message: 'hello' } };
  return (await node.call({ method: 'POST', path: '/events', body })).status;
}

async function eventsHeard(database: Database): Promise<Set<string>> {
  const rows = await database.query('select event from ringback.callback');
  return new Set(rows.map(({ event }) => String(event)));
}
