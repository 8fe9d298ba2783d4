// A real PostgreSQL of a test's own: a cluster in a temporary folder, on a loopback port, that can be
// stopped, killed as by a power cut, frozen and started again. Nothing of it outlives the process.
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { appendFile, chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, escapeIdentifier } from 'pg';
import { accountFor, reachable, type Account } from './os-account.ts';
import { nativeFolder } from './binaries.ts';
import { copyLive } from './copy-live.ts';
import { familyOf, freezeFamily, signalAll } from './process-tree.ts';
import { run, type Program } from './postgres-program.ts';
import { watch, type Watchdog } from './watchdog.ts';

export interface PostgresOptions {
  /** Lines of postgresql.conf. What is not named has PostgreSQL's default: `fsync` is on. */
  settings?: Readonly<Record<string, string>>;
  /** Where its folder is made. Default: where the system keeps temporary files. */
  parent?: string;
}

const user = 'postgres';

export type StopMode = 'smart' | 'fast' | 'immediate';
const stopSignals = { smart: 'SIGTERM', fast: 'SIGINT', immediate: 'SIGQUIT' } as const;

/** Takes about a second. */
export async function startPostgres(options: PostgresOptions = {}): Promise<Postgres> {
  const native = nativeFolder();
  const folder = await mkdtemp(join(options.parent ?? tmpdir(), 'ringback-postgres-'));
  const watchdog = watch(folder);
  try {
    const account = accountFor(folder);
    const place: ServerFolder = {
      bin: join(await reachable(native, account, folder), 'bin'),
      folder,
      account,
      watchdog,
      port: await freePort(),
      password: randomBytes(16).toString('hex'),
    };
    await initialise(place, options.settings ?? {});
    const server = new Postgres(place);
    await server.start();
    return server;
  } catch (error) {
    await watchdog.end();
    throw error;
  }
}

interface ServerFolder {
  bin: string;
  folder: string;
  account: Account;
  watchdog: Watchdog;
  port: number;
  password: string;
}

export class Postgres implements AsyncDisposable {
  readonly #place: ServerFolder;
  #program: Program | undefined;

  constructor(place: ServerFolder) {
    this.#place = place;
  }

  /** The first process of the cluster, while it runs. */
  get pid(): number | undefined {
    return this.#program?.pid;
  }

  url(database = 'postgres'): string {
    const { password, port } = this.#place;
    return `postgres://${user}:${password}@127.0.0.1:${port}/${encodeURIComponent(database)}`;
  }

  /** Returns its URL. */
  async createDatabase(name: string): Promise<string> {
    await this.#order(`create database ${escapeIdentifier(name)}`);
    return this.url(name);
  }

  /** With all that is still to be done for it: vacuums, and pages that are not written yet. */
  async dropDatabase(name: string): Promise<void> {
    await this.#order(`drop database ${escapeIdentifier(name)} with (force)`);
  }

  async #order(sql: string): Promise<void> {
    const client = new Client({ connectionString: this.url() });
    await client.connect();
    try {
      await client.query(sql);
    } finally {
      await client.end();
    }
  }

  /** Resolves when it accepts connections, on the same data and port as before. */
  async start(): Promise<void> {
    await this.#start('ready to accept connections');
  }

  /** As a replica, of a primary if its settings name one: it can be read, and `pg_promote()` makes it a primary again. */
  async startAsStandby(): Promise<void> {
    await writeFile(join(this.#place.folder, 'data', 'standby.signal'), '');
    await this.#start('ready to accept read-only connections');
  }

  async #start(ready: string): Promise<void> {
    if (this.#program !== undefined) throw new Error(`PostgreSQL runs already, as ${this.pid}`);
    const { port, folder } = this.#place;
    const args = ['-D', join(folder, 'data'), '-p', String(port)];
    const program = spawnIn(this.#place, 'postgres', args);
    this.#program = program;
    const forget = (): void => {
      if (this.#program === program) this.#program = undefined;
    };
    void program.gone.then(forget);
    await program.says(ready);
    program.unref(); // A test that forgets it can still end; the watchdog does the rest.
  }

  /**
   * As `pg_ctl stop -m` does. `fast`: connections are ended, everything is written. `immediate`: as after a
   * crash. `smart`: waits until everybody has left by himself, and lets nobody in meanwhile.
   */
  async stop(mode: StopMode = 'fast'): Promise<void> {
    await this.#end((pid) => {
      signalAll([pid], stopSignals[mode]);
      this.thaw();
    });
  }

  /**
   * A server of its own that follows this one, from a backup taken while this one works. It can be read,
   * and `pg_promote()` makes it a primary. `through`: the URL that it follows, when there is a proxy.
   */
  async startStandby(through = this.url()): Promise<Postgres> {
    const mine = this.#place;
    const folder = await mkdtemp(join(tmpdir(), 'ringback-postgres-'));
    const watchdog = watch(folder);
    try {
      const account = accountFor(folder);
      const bin = join(await reachable(nativeFolder(), account, folder), 'bin');
      const place = { ...mine, bin, folder, account, watchdog, port: await freePort() };
      const { hostname, port } = new URL(through);
      const primary = `host=${hostname} port=${port} user=${user} password=${mine.password}`;
      const [from, to] = [join(mine.folder, 'data'), join(folder, 'data')];
      await copyLive({ url: this.url(), from, to });
      const follow = { primary_conninfo: `${primary} application_name=standby` };
      await appendFile(join(to, 'postgresql.conf'), settingLines(follow));
      const standby = new Postgres(place);
      await standby.startAsStandby();
      return standby;
    } catch (error) {
      await watchdog.end();
      throw error;
    }
  }

  /** As in a power cut: all processes at once, without a chance to write anything. */
  async kill(): Promise<void> {
    await this.#end((pid) => signalAll(freezeFamily(pid), 'SIGKILL'));
  }

  /** All processes stand still. The kernel goes on answering for their sockets. */
  freeze(): void {
    if (this.pid !== undefined) freezeFamily(this.pid);
  }

  thaw(): void {
    if (this.pid !== undefined) signalAll(familyOf(this.pid), 'SIGCONT');
  }

  /** Ends it in whatever state it is, and removes its data. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#program?.ref();
    await this.#place.watchdog.end();
    await this.#program?.gone;
  }

  async #end(signal: (pid: number) => void): Promise<void> {
    const program = this.#program;
    if (program?.pid === undefined) return;
    program.ref();
    signal(program.pid);
    await program.gone;
  }
}

/** Runs one of PostgreSQL's programs in the place, under the watchdog's eyes. */
function spawnIn(
  place: ServerFolder,
  name: 'initdb' | 'postgres',
  args: readonly string[],
): Program {
  const { bin, folder, account, watchdog } = place;
  const program = run(join(bin, name), args, { ...account, cwd: folder });
  watchdog.guard(program.pid);
  void program.gone.then(() => watchdog.guard(undefined));
  return program;
}

async function initialise(
  place: ServerFolder,
  settings: Readonly<Record<string, string>>,
): Promise<void> {
  const { folder, password } = place;
  const passwordFile = join(folder, 'password');
  await writeFile(passwordFile, password);
  await chmod(passwordFile, 0o644); // The folder is closed to others; its owner may not be us.
  // Not C, since most databases are not: an order that must be by bytes has to say so. ICU sorts
  // alike on every machine. Only messages stay C: start() reads one of them.
  const language = ['--encoding=UTF8', '--locale=C', '--locale-provider=icu', '--icu-locale=en-US'];
  // A superuser may run programs, so `trust` would give this account to everyone on the machine.
  // The password cannot be guessed and needs no stretching.
  const access = ['--auth=scram-sha-256', `--pwfile=${passwordFile}`, '-c', 'scram_iterations=1'];
  // Shared memory as files of the folder: what a kill leaves goes with it. The rest is the watchdog's
  // work, and it needs the lock file: no cleaning up here. Without sync: nothing in this folder has
  // to outlive the machine.
  const traces = ['-c', 'dynamic_shared_memory_type=mmap', '--no-clean', '--no-sync'];
  const initdb = spawnIn(place, 'initdb', [
    `--pgdata=${join(folder, 'data')}`,
    `--username=${user}`,
    ...language,
    ...access,
    ...traces,
  ]);
  if ((await initdb.gone) !== 0) throw initdb.failure();
  await rm(passwordFile);
  await appendFile(join(folder, 'data', 'postgresql.conf'), confLines(settings));
}

function confLines(settings: Readonly<Record<string, string>>): string {
  return settingLines({
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    ...settings,
  });
}

function settingLines(settings: Readonly<Record<string, string>>): string {
  const texts = Object.entries(settings).map(([name, value]) => {
    return `\n${name} = '${value.replaceAll("'", "''")}'`;
  });
  return `${texts.join('')}\n`;
}

/**
 * Below the ports that systems give out themselves (from 32,768 on): otherwise some outgoing
 * connection could take it while the server is down, and it could not start again.
 */
export async function freePort(): Promise<number> {
  const port = randomInt(20_000, 32_000);
  const probe = createServer();
  try {
    probe.listen(port, '127.0.0.1');
    await once(probe, 'listening');
  } catch {
    return freePort();
  }
  probe.close();
  await once(probe, 'close');
  return port;
}
