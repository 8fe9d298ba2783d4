// Checks a data folder after its process died: every acknowledged write is there, nothing was duplicated, and the
// counts agree. The next process to open it must be able to finish all pending work.
import { existsSync, readFileSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { pendingOf } from '../../../src/core/telemetry/statistics.ts';
import { keyFileIn, readKeyFile } from '../../../src/store/open/key-file.ts';
import { databaseIn, migrationsDir, storeOver } from '../../../src/store/open/open.ts';
import { openSqlite, inProcess } from '../../../src/store/sqlite/batch/adapter.ts';
import { connect } from '../../../src/store/sqlite/connection/connect.ts';
import type { Store } from '../../../src/store/port/store.ts';
import { broken, miscounted } from '../../store/model-rules.ts';
import type { Line } from './history.ts';
import { Actor, nowMs, publishing } from './paths.ts';

const roundsMax = 200;

export interface Aftermath {
  dataDir: string;
  history: readonly Line[];
  /** `look` only checks the folder; `finish` also completes all pending work and checks again. */
  how: 'look' | 'finish';
}

/** Returns the violations; empty if there are none. */
export async function aftermath({ dataDir, history, how }: Aftermath): Promise<string[]> {
  const flaws: string[] = [];
  try {
    const clock = { ms: nowMs };
    await using found = openFound(dataDir, clock, flaws);
    await look(found, history, flaws);
    if (how === 'finish') await finish(found, history, { flaws, clock });
  } catch (error) {
    flaws.push(`I1: the folder cannot be opened, or its work cannot be finished: ${String(error)}`);
  }
  return flaws;
}

interface Found extends AsyncDisposable {
  dataDir: string;
  store: Store;
  /** A second connection, for data that the store's interface does not expose. */
  db: DatabaseSync;
}

function openFound(dataDir: string, clock: { ms: number }, flaws: string[]): Found {
  const path = databaseIn(dataDir);
  const sqlite = openSqlite({ path, migrationsDir, nowMs });
  const onFatal = (error: Error): void => void flaws.push(`the store failed: ${error.message}`);
  const store = storeOver(inProcess(sqlite, { onFatal }), { nowMs: () => clock.ms });
  const db = connect({ path, access: 'read' });
  return {
    dataDir,
    store,
    db,
    [Symbol.asyncDispose]: async () => {
      db.close();
      await store.close();
    },
  };
}

async function look(found: Found, history: readonly Line[], flaws: string[]): Promise<void> {
  const { db, store } = found;
  const keyFile = keyFileIn(found.dataDir);
  if (existsSync(keyFile)) readKeyFile(keyFile); // A broken key file would make every further start fail.
  flaws.push(...lost(found, history), ...unheard(found, history), ...twice(found, history));
  for (const [what, sql] of Object.entries({ ...broken, ...miscounted })) {
    if (db.prepare(sql).all().length > 0) flaws.push(`I14: there is ${what}`);
  }
  const [integrity] = db.prepare('pragma integrity_check').all();
  if (integrity?.['integrity_check'] !== 'ok') flaws.push(`I14: ${JSON.stringify(integrity)}`);
  const { due, running, delivered, dead, cancelled } = await store.read('tally', {});
  const made = numberOf(db, 'select coalesce(sum(deliveries), 0) from event');
  if (due + running + delivered + dead + cancelled !== made) {
    flaws.push(
      `I14: ${made} accepted, ${delivered} delivered, ${dead} dead, ${cancelled} cancelled, ` +
        `${due + running} pending`,
    );
  }
  for (const { appNo } of apps(history)) {
    const counts = await store.read('counts', { appNo });
    const events = numberOf(db, 'select count(*) from event');
    const isSame = counts.published === events && pendingOf(counts) === due + running;
    if (!isSame) flaws.push(`I14: the counts differ from the rows: ${JSON.stringify(counts)}`);
  }
}

function apps(history: readonly Line[]): { appNo: number }[] {
  return history.filter((line) => line.say === 'ack app');
}

/** I1 and I4: an acknowledged write persists, unless a later request changed it. */
function lost({ db, dataDir }: Found, history: readonly Line[]): string[] {
  const has = (sql: string, ...values: (string | number)[]): boolean =>
    db.prepare(sql).get(...values) !== undefined;
  const isSound = (line: Line, later: readonly Line[]): boolean => {
    switch (line.say) {
      case 'ack publish':
        return line.events.every(({ id, deliveries = 0 }) =>
          has('select 1 from event where id = ? and deliveries >= ?', id, deliveries),
        );
      case 'ack settle': {
        const { event, n, outcome } = line;
        const isRetried = later.some(
          (one) => one.say === 'try retry' && one.event === event && one.n === n,
        );
        const state = { delivered: 1, dead: 2, cancelled: 3, gone: 3, retry: 0, released: 0 }[
          outcome
        ];
        const isAny = isRetried || state === 0;
        return isAny
          ? has(anyDelivery, event, n)
          : has(
              'select 1 from delivery_done where event = ? and n = ? and state = ?',
              event,
              n,
              state,
            );
      }
      case 'ack subscribe':
        return has('select 1 from subscription where id = ?', line.id);
      case 'ack unsubscribe':
        return has("select 1 from subscription where id = ? and state = 'ended'", line.id);
      case 'ack retry':
        return has(anyDelivery, line.event, line.as);
      case 'ack app':
        return has('select 1 from app where no = ?', line.appNo);
      case 'ack key': {
        const path = keyFileIn(dataDir);
        return existsSync(path) && Buffer.from(readKeyFile(path)).toString('hex') === line.key;
      }
      case 'try publish':
      case 'try settle':
      case 'try unsubscribe':
      case 'try retry':
      case 'leased':
      case 'received':
      case 'sync failed':
      case 'closing':
      case 'closed':
      case 'done':
        return true;
    }
  };
  return history.flatMap((line, index) =>
    isSound(line, history.slice(index + 1)) ? [] : [`I1: lost: ${JSON.stringify(line)}`],
  );
}

const anyDelivery = `
  select 1 from (select event, n from delivery_live union all select event, n from delivery_done)
  where event = ?1 and n = ?2`;

/** I3: every delivery marked as delivered was received. */
function unheard({ db }: Found, history: readonly Line[]): string[] {
  const received = new Set(
    history.flatMap((line) => (line.say === 'received' ? [`${line.event} ${line.n}`] : [])),
  );
  const rows = db.prepare('select event, n from delivery_done where state = 1').all();
  return rows
    .map(({ event, n }) => `${String(event)} ${String(n)}`)
    .filter((name) => !received.has(name))
    .map((name) => `I3: ${name} is marked as delivered, but no receiver got it`);
}

/** I13: a request has created all of its events once or none, and there are no other events. */
function twice({ db }: Found, history: readonly Line[]): string[] {
  const tried = new Map(
    history.flatMap((line) => (line.say === 'try publish' ? [[line.tag, line.size] as const] : [])),
  );
  const expected = [...tried].map(([tag, size]) => {
    const found = Array.from({ length: size }, (_, i) =>
      numberOf(db, `select count(*) from event where name = '${tag}.${i}'`),
    );
    return { tag, found };
  });
  const all = numberOf(db, 'select count(*) from event');
  const known = expected.flatMap(({ found }) => found).reduce((sum, one) => sum + one, 0);
  const strange = all === known ? [] : [`I13: ${all - known} events that were never published`];
  const odd = expected.filter(({ found }) => found.some((one) => one > 1 || one !== found[0]));
  return [...strange, ...odd.map(({ tag, found }) => `I13: "${tag}" made ${found.join(', ')}`)];
}

interface Finishing {
  flaws: string[];
  clock: { ms: number };
}

/** The client repeats its requests, a new process takes over, receivers respond: all work must finish. */
async function finish(
  found: Found,
  history: readonly Line[],
  { flaws, clock }: Finishing,
): Promise<void> {
  const { store, db } = found;
  const lines = [...history];
  const [appNo] = apps(history).map((app) => app.appNo);
  if (appNo === undefined) return;
  await publishAgain(store, { lines, appNo, flaws });
  const before = db.prepare('select event, n, state from delivery_done').all();
  await store.edit('startNode', { name: 'next', role: 'all', version: '1', aloneHere: true });
  const actor = new Actor(store, { appNo, subscriptions: [] }, (line) => lines.push(line));
  for (let round = 0; pending(db) > 0; round += 1) {
    if (round === roundsMax) {
      flaws.push('I1: pending deliveries do not finish');
      return;
    }
    for (const leased of await actor.claim(100)) await actor.settle(leased, 'delivered');
    await actor.sweep(100);
    clock.ms += 60_000; // Past every backoff of a lane.
  }
  await look(found, lines, flaws);
  const stays = db.prepare('select 1 from delivery_done where event = ? and n = ? and state = ?');
  for (const { event = '', n = 0, state = 0 } of before) {
    const isSame = stays.get(event, n, state) !== undefined;
    if (!isSame) flaws.push(`I4: ${String(event)} ${String(n)} had ended, but has changed`);
  }
  flaws.push(...repeated(history, lines));
}

interface Again {
  lines: Line[];
  appNo: number;
  flaws: string[];
}

async function publishAgain(store: Store, { lines, appNo, flaws }: Again): Promise<void> {
  const answers = new Map(
    lines.flatMap((line) => (line.say === 'ack publish' ? [[line.tag, line] as const] : [])),
  );
  const tries = new Map(
    lines.flatMap((line) => (line.say === 'try publish' ? [[line.tag, line] as const] : [])),
  );
  for (const { tag, size, to } of tries.values()) {
    const output = await store.edit('publish', publishing({ appNo, tag, size, to }));
    const answer = answers.get(tag);
    if (answer === undefined) continue;
    const ids = 'events' in output ? output.events.map(({ id }) => id) : [];
    const isSame = answer.events.every(({ id }, index) => id === ids[index]);
    if (output.kind !== 'repeated' || !isSame) {
      flaws.push(`I13: "${tag}" was acknowledged, but the repeated request was ${output.kind}`);
    }
  }
}

/** I5: only deliveries that the dead process held and had not settled were sent again. */
function repeated(history: readonly Line[], lines: readonly Line[]): string[] {
  const held = new Set<string>();
  for (const line of history) {
    if (line.say === 'leased') held.add(`${line.event} ${line.n}`);
    if (line.say === 'ack settle') held.delete(`${line.event} ${line.n}`);
  }
  const counts = new Map<string, number>();
  for (const line of lines) {
    if (line.say !== 'received') continue;
    const name = `${line.event} ${line.n}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts]
    .filter(([name, count]) => count > (held.has(name) ? 2 : 1))
    .map(([name, count]) => `I5: ${name} came ${count} times`);
}

function pending(db: DatabaseSync): number {
  return numberOf(db, 'select count(*) from delivery_live');
}

function numberOf(db: DatabaseSync, sql: string): number {
  return Number(Object.values(db.prepare(sql).get() ?? {})[0]);
}

/** The contents of a file, or an empty text if it does not exist. */
export function textOf(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}
