// What happens to PostgreSQL while it is used, one function each. Each resolves when the database is back.
import { setTimeout as wait } from 'node:timers/promises';
import { Client, DatabaseError } from 'pg';
import type { StopMode } from '../../postgres/server.ts';
import { signalAll } from '../../postgres/process-tree.ts';
import type { Scene } from './scene.ts';

export interface Fault {
  name: string;
  inflict: (scene: Scene) => Promise<void>;
}

/** Short, or longer than a commit of unknown outcome is asked about. */
async function whileAway({ random }: Scene): Promise<void> {
  await wait(random() < 0.75 ? random() * 1_000 : 3_000 + random() * 3_000);
}

export const killed: Fault = {
  name: 'killed with SIGKILL',
  inflict: async (scene) => {
    await scene.postgres.kill();
    if (scene.random() < 0.2) await whileAway(scene);
    await scene.postgres.start();
  },
};

const frozen: Fault = {
  name: 'frozen with SIGSTOP',
  inflict: async (scene) => {
    scene.postgres.freeze();
    await whileAway(scene);
    scene.postgres.thaw();
  },
};

/** One after the other, whatever it is for: the others go on meanwhile. */
const frozenBackend: Fault = {
  name: 'one backend frozen',
  inflict: async (scene) => {
    const backends = await scene.database.query(ours);
    const chosen = backends[Math.floor(scene.random() * backends.length)];
    if (chosen === undefined) {
      scene.load.flaws.push('void: there was no backend to freeze');
      return;
    }
    signalAll([Number(chosen['pid'])], 'SIGSTOP');
    await whileAway(scene);
    signalAll([Number(chosen['pid'])], 'SIGCONT');
  },
};

/** `smart` waits for everybody to leave, and nobody does: then it is told to be fast, as an operator would. */
function restarted(mode: StopMode): Fault {
  return {
    name: `restarted, ${mode}`,
    inflict: async ({ postgres, random }) => {
      const stopped = postgres.stop(mode);
      if (mode === 'smart') {
        await wait(500 + random() * 500);
        await postgres.stop('fast');
      }
      await stopped;
      await postgres.start();
    },
  };
}

const ours = `
  select pid from pg_stat_activity where application_name like 'ringback%' and pid <> pg_backend_pid()`;
const terminate = `select count(pg_terminate_backend(pid)) from (${ours}) ours`;

export const terminated: Fault = {
  name: 'all backends terminated',
  inflict: async ({ database, random }) => {
    for (let times = 1 + Math.floor(random() * 5); times > 0; times -= 1) {
      await database.query(terminate);
      await wait(random() * 100);
    }
  },
};

/** Until one of each is met: in a transaction, and idle. */
const terminatedInState: Fault = {
  name: 'backends terminated in a transaction, then idle ones',
  inflict: async ({ database, load }) => {
    for (const state of ['idle in transaction', 'active', 'idle']) {
      let met = 0;
      for (let tries = 0; tries < statesMax && met === 0; tries += 1) {
        const rows = await database.query(
          `select pg_terminate_backend(pid) from (${ours} and state = '${state}') ours`,
        );
        met = rows.length;
        if (met === 0) await wait(2);
      }
      if (met === 0) load.flaws.push(`void: no backend was ${state}`);
    }
  },
};

/** Looks for a state. Where it is common the first few find it. */
const statesMax = 2_000;

/** Every place is taken by somebody else, and the nodes have lost theirs. */
const outOfConnections: Fault = {
  name: 'out of connections',
  inflict: async (scene) => {
    const { postgres, database, random } = scene;
    const others: Client[] = [];
    const untilMs = performance.now() + 1_000 + random() * 1_500;
    while (performance.now() < untilMs) {
      const client = new Client({ connectionString: postgres.url() });
      client.on('error', () => undefined);
      const isIn = await client.connect().then(
        () => true,
        () => false,
      );
      if (isIn) others.push(client);
      else await database.query(terminate).catch(() => undefined);
    }
    await Promise.all(others.map(async (client) => client.end().catch(() => undefined)));
  },
};

/** It comes back as a replica, which can only be read, and is promoted later. */
const readOnly: Fault = {
  name: 'read-only: a replica for a while',
  inflict: async (scene) => {
    const { postgres, database } = scene;
    await postgres.stop();
    await postgres.startAsStandby();
    await wait(500 + scene.random() * 1_500);
    await database
      .query('select pg_promote()')
      .catch(async () => database.query('select pg_promote()'));
  },
};

const cut: Fault = {
  name: 'all connections cut',
  inflict: async ({ proxy, random }) => {
    for (let times = 1 + Math.floor(random() * 4); times > 0; times -= 1) {
      proxy.cutAll();
      await wait(random() * 100);
    }
  },
};

const blackHole: Fault = {
  name: 'all connections black-holed',
  inflict: async (scene) => {
    scene.proxy.blackHole();
    await whileAway(scene);
    scene.proxy.resume();
  },
};

/** Somebody's own session locks rows in an order that is nobody's, and waits in between. */
export const wrongOrder: Fault = {
  name: 'deadlocks: rows locked in the wrong order',
  inflict: async ({ postgres, random, load }) => {
    const client = new Client({ connectionString: postgres.url('ringback') });
    await client.connect();
    const untilMs = performance.now() + 2_000;
    while (performance.now() < untilMs) {
      try {
        await client.query("begin; set local deadlock_timeout = '10s'");
        await client.query(
          'select from ringback.delivery_live order by random() limit 20 for update',
        );
        await wait(random() * 150);
        await client.query('select from ringback.lane for update');
        await client.query('select from ringback.app for update');
      } catch (error) {
        // It may be the one that has to give way.
        const isDeadlock = error instanceof DatabaseError && error.code === '40P01';
        if (!isDeadlock) load.flaws.push(`void: cannot lock in the wrong order: ${String(error)}`);
      }
      await client.query('rollback');
    }
    await client.end();
  },
};

/** Defaults of the database that would break promises: every session of ours says its own. */
const hostileDefaults: Fault = {
  name: 'hostile defaults of the database',
  inflict: async ({ database }) => {
    const hostile = {
      default_transaction_read_only: 'on',
      default_transaction_isolation: "'serializable'",
      synchronous_commit: 'off',
      statement_timeout: '1',
      search_path: 'pg_catalog',
    };
    for (const [name, value] of Object.entries(hostile)) {
      await database.query(`alter database ringback set ${name} = ${value}`);
    }
    await database.query(terminate);
    await wait(1_000);
    const undo = new Client({
      connectionString: database.url,
      options: '-c default_transaction_read_only=off -c statement_timeout=0',
    });
    await undo.connect();
    await undo.query('alter database ringback reset all');
    await undo.end();
  },
};

/** What is tried in full, and how often. */
export const allFaults: readonly (Fault & { rounds: number })[] = [
  { ...killed, rounds: 24 },
  { ...frozen, rounds: 4 },
  { ...frozenBackend, rounds: 6 },
  { ...restarted('smart'), rounds: 2 },
  { ...restarted('fast'), rounds: 3 },
  { ...restarted('immediate'), rounds: 3 },
  { ...terminated, rounds: 5 },
  { ...terminatedInState, rounds: 3 },
  { ...outOfConnections, rounds: 3 },
  { ...readOnly, rounds: 2 },
  { ...cut, rounds: 5 },
  { ...blackHole, rounds: 4 },
  { ...wrongOrder, rounds: 2 },
  { ...hostileDefaults, rounds: 1 },
];
