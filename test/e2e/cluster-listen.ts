// A worker whose LISTEN connection is a black hole: it stays open, and nothing ever comes on it.
import { never } from '../../src/core/domain/lane.ts';
import { freshDatabase } from '../postgres/database.ts';
import { startProxy, type Passing } from '../postgres/proxy.ts';
import { startNode } from './cluster.ts';
import { Lag, nowMs } from './event-loop-lag.ts';
import { header, receive } from './receiver.ts';
import { publish, subscribe, until } from './stage.ts';

export interface Unheard {
  /** From the answer at one node to the callback from the other, less what this process was late. Sorted. */
  tookMs: number[];
  /** What the worker logged. */
  logged: string;
}

export async function hearNothing(events: number): Promise<Unheard> {
  await using database = await freshDatabase();
  await using proxy = await startProxy(database.url);
  await using api = await startNode({ url: database.url, name: 'api', role: 'api' });
  const held = proxy.hold('after', listensNow());
  await using worker = await startNode({ url: proxy.url, name: 'worker', role: 'worker' });
  await held;

  using lag = new Lag();
  const cameMs = new Map<string, number>();
  await using receiver = await receive((request) => {
    const atMs = nowMs();
    cameMs.set(header(request, 'webhook-id'), atMs - lag.at(atMs));
    return 200;
  });
  await subscribe(api, receiver.url);
  const tookMs: number[] = [];
  for (let i = 1; i <= events; i += 1) {
    // A lane that was busy a moment ago is looked at again in any case; so it must be at rest.
    await until(
      async () => database.query(`select no from ringback.lane where ready_ms < ${never}`),
      (ready) => ready.length === 0,
    );
    const { eventId } = await publish(api, 'order.created');
    const answeredMs = nowMs();
    await receiver.waitFor(i);
    tookMs.push(Math.max((cameMs.get(eventId) ?? Infinity) - answeredMs, 0));
  }
  return { tookMs: tookMs.toSorted((a, b) => a - b).map(Math.round), logged: worker.err() };
}

/** Right after the server has said that it listens, and is ready for the next statement. */
function listensNow(): (message: Passing) => boolean {
  let listening: number | undefined;
  return ({ side, tag, type, connection }) => {
    if (tag === 'LISTEN') listening = connection;
    return side === 'backend' && type === 'Z' && connection === listening;
  };
}
