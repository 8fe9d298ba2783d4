// Order under failures and crashes: the receiver refuses and hangs up at random, nodes are killed in the
// middle of an attempt, and still one event is over before the next one begins.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sendTo, type Answer, type Call } from '../api/harness.ts';
import { newFolder, serve } from '../cli/ringback-process.ts';
import { freshDatabase } from '../postgres/database.ts';
import { startNode, startNodes, type ClusterNode } from './cluster.ts';
import { orderedEnv, publishInOrder, receiveOrdered } from './ordered.ts';

/** Another one each day, printed with every failure; SEED=… runs a former one again. */
const seed = Number(process.env['SEED'] ?? Math.floor(Date.now() / 86_400_000));
const key = 'k'.repeat(40);
/** On a machine with ten times too much to do a process takes 15 s to start. */
const patienceMs = 120_000;

async function subscribeOrdered(
  call: (call: Call) => Promise<Answer>,
  callbackUrl: string,
): Promise<void> {
  const body = { callbackUrl, 'x-ringback': { ordered: true } };
  const answer = await call({ method: 'POST', path: '/subscribe', body });
  assert.equal(answer.status, 201, answer.text);
}

describe('an ordered subscription under kill -9', { concurrency: true }, () => {
  it('keeps its order on SQLite', async () => {
    await using folder = await newFolder();
    await using ordered = await receiveOrdered(seed);
    const env = { RINGBACK_DATA: folder.path, RINGBACK_API_KEY: key, RINGBACK_LOG: 'silent' };
    for (let round = 0; round < 2; round += 1) {
      await using serving = await serve({ ...env, ...orderedEnv });
      const call = async (one: Call): Promise<Answer> => sendTo(serving.url, key, one);
      if (round === 0) await subscribeOrdered(call, ordered.url);
      const [from, until] = [round * 30, (round + 1) * 30];
      const { letGo } = ordered.hold();
      await publishInOrder(call, { from, until });
      letGo();
      if (round === 1) {
        await ordered.acceptances.reach(until, patienceMs);
        continue;
      }
      // In the middle of an attempt, while others wait.
      await ordered.attempts.reach(ordered.attempts.count + 2 + Math.floor(ordered.random() * 9));
      serving.signal('SIGKILL');
      await serving.ended;
    }
    ordered.check();
  });

  it('keeps its order on PostgreSQL, with two nodes', async () => {
    await using database = await freshDatabase();
    await using ordered = await receiveOrdered(seed + 1);
    await using nodes = new AsyncDisposableStack();
    const started = await startNodes(database.url, { a: 'all', b: 'all' }, orderedEnv);
    const [a, b] = started.map((node): ClusterNode => nodes.use(node));
    assert(a && b);
    await subscribeOrdered(b.call, ordered.url);
    const { letGo } = ordered.hold();
    await publishInOrder(b.call, { from: 0, until: 40 });
    letGo();
    await ordered.attempts.reach(ordered.attempts.count + 2 + Math.floor(ordered.random() * 9));
    a.signal('SIGKILL');
    await a.ended;
    // As if the time had passed after which the others take over what it held.
    await database.query("update ringback.node set seen_ms = 0 where name = 'a'");
    const restarted = startNode({ url: database.url, name: 'a', env: orderedEnv });
    await publishInOrder(b.call, { from: 40, until: 60 });
    nodes.use(await restarted);
    await ordered.acceptances.reach(60, patienceMs);
    ordered.check();
  });
});
