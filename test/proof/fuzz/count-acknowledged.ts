// After all requests: what was acknowledged is there; and what is there adds up, where the service that is
// asked delivers nothing, so that nothing moves while it is counted.
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
      violations.push(`I14: ${id} was said to have ${count} deliveries and has ${found}`);
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
  throw new Error(`${path} has no end`);
}

const turnsMax = 20;

/** A busy machine may be too slow for the store's deadline: then it is asked again. */
async function ask(service: Running, key: string, path: string): Promise<Answer> {
  for (let turn = 1; ; turn += 1) {
    const answer = await service.call({ path, key });
    if (answer.status === 200) return answer;
    if (answer.status !== 503 || turn === turnsMax) throw new Error(`${path} said ${answer.text}`);
  }
}
