// Runs after all requests: every acknowledged event must be listed. If the service delivers nothing while it is
// counted, all counts must agree as well.
import type { Answer, Running } from '../../api/harness.ts';
import type { Promised } from './learn.ts';
import type { Caller } from './request.ts';

export interface Reckoning {
  accepted: number;
  lost: number;
  deliveries: number;
  violations: readonly string[];
}

interface Item {
  id: string;
  eventId?: string;
  state?: string;
}

const states = ['due', 'running', 'delivered', 'dead', 'cancelled'];
const pagesMax = 1_000;

export async function reckon(
  service: Running,
  { app, key, name }: Caller,
  { events, isStill }: Promised & { isStill: boolean },
): Promise<Reckoning> {
  const violations: string[] = [];
  const listed = new Set((await readAll(service, key, '/events')).map(({ id }) => id));
  const missing = [...events.keys()].filter((id) => !listed.has(id));
  if (missing.length > 0)
    violations.push(`I1: ${name} lost ${missing.length} events: ${missing[0]}`);
  const deliveries = await readAll(service, key, '/deliveries');
  const sums = { accepted: events.size, lost: missing.length, deliveries: deliveries.length };
  if (!isStill) return { ...sums, violations };
  const byState = await Promise.all(
    states.map(async (state) => (await readAll(service, key, `/deliveries?state=${state}`)).length),
  );
  const sum = byState.reduce((total, count) => total + count, 0);
  if (sum !== deliveries.length) {
    violations.push(
      `I14: ${name} has ${deliveries.length} deliveries, by state ${byState.join(' + ')}`,
    );
  }
  const perEvent = Map.groupBy(deliveries, ({ eventId }) => eventId);
  for (const [id, count] of events) {
    const found = perEvent.get(id)?.length ?? 0;
    if (count !== null && found < count) {
      violations.push(`I14: ${id} was acknowledged with ${count} deliveries, but has ${found}`);
    }
  }
  const stats = (await ask(service, key, '/stats')).json;
  const pending = (byState[0] ?? 0) + (byState[1] ?? 0);
  if (stats['pending'] !== pending) {
    violations.push(
      `I14: ${name} of ${app}: statistics say ${String(stats['pending'])} pending, the list ${pending}`,
    );
  }
  return { ...sums, violations };
}

async function readAll(service: Running, key: string, path: string): Promise<Item[]> {
  const items: Item[] = [];
  let cursor = '';
  for (let page = 0; page < pagesMax; page += 1) {
    const join = path.includes('?') ? '&' : '?';
    const answer = await ask(service, key, `${path}${join}limit=400${cursor}`);
    items.push(...(answer.json['items'] as Item[]));
    const next = answer.json['nextCursor'];
    if (typeof next !== 'string') return items;
    cursor = `&cursor=${encodeURIComponent(next)}`;
  }
  throw new Error(`Cannot read all of ${path}: more than ${pagesMax} pages`);
}

const turnsMax = 20;

/** Repeats a request that got 503: on a busy machine the store may miss its deadline. */
async function ask(service: Running, key: string, path: string): Promise<Answer> {
  for (let turn = 1; ; turn += 1) {
    const answer = await service.call({ path, key });
    if (answer.status === 200) return answer;
    if (answer.status !== 503 || turn === turnsMax)
      throw new Error(`Cannot read ${path}: ${answer.text}`);
  }
}
