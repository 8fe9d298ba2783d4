// A real PostgreSQL for one test: a cluster in a temporary folder, on a loopback port, that can be stopped,
// killed as by a power cut, frozen and started again. Nothing of it outlives the process.
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
  /** Lines of postgresql.conf. Others have PostgreSQL's defaults: `fsync` is on. */
  settings?: Readonly<Record<string, string>>;
  /** Where its folder is created. Default: the system's folder for temporary files. */
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

  /** The postmaster's process id while it runs. */
  get pid(): number | undefined {
    return this.#program?.pid;
  }

  url(database = 'postgres'): string {
    const { password, port } = this.#place;
    return `postgres://${user}:${password}@127.0.0.1:${port}/${encodeURIComponent(database)}`;
  }

  /** Returns the URL of the database. */
  async createDatabase(name: string): Promise<string> {
    await this.#order(`create database ${escapeIdentifier(name)}`);
    return this.url(name);
  }

  /** Also drops its pending work: vacuums, and pages that are not written yet. */
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

  /** Starts as a read-only replica, of the primary that its settings may name; `pg_promote()` makes it a primary. */
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
    program.unref(); // A test that forgets to dispose it can still end; the watchdog cleans up.
  }

  /**
   * Like `pg_ctl stop -m`. `fast`: ends connections, and writes everything. `immediate`: like a crash.
   * `smart`: waits until all clients have disconnected, and accepts no new ones meanwhile.
   */
  async stop(mode: StopMode = 'fast'): Promise<void> {
    await this.#end((pid) => {
      signalAll([pid], stopSignals[mode]);
      this.thaw();
    });
  }

  /**
   * Starts a second server that follows this one, from a backup of the running server. It can be read, and
   * `pg_promote()` makes it a primary. `through`: the URL that it follows, if there is a proxy.
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

  /** Kills all processes at once, as in a power cut, so that none can write anything. */
  async kill(): Promise<void> {
    await this.#end((pid) => signalAll(freezeFamily(pid), 'SIGKILL'));
  }

  /** Stops all processes. The kernel still accepts data on their sockets. */
  freeze(): void {
    if (this.pid !== undefined) freezeFamily(this.pid);
  }

  thaw(): void {
    if (this.pid !== undefined) signalAll(familyOf(this.pid), 'SIGCONT');
  }

  /** Ends it in any state, and removes its data. */
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

/** Runs one of PostgreSQL's programs in the folder, guarded by the watchdog. */
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
  await chmod(passwordFile, 0o644); // Other accounts cannot enter the folder; the file may be read by its owner, who may not be us.
  // Most databases do not use the locale C, so SQL that needs byte order must say so. ICU sorts the same
  // on every machine. Only messages stay in C, because start() reads one of them.
  const language = ['--encoding=UTF8', '--locale=C', '--locale-provider=icu', '--icu-locale=en-US'];
  // A superuser may run programs, so `trust` would give this account to every user of the machine.
  // The password is random and needs no stretching.
  const access = ['--auth=scram-sha-256', `--pwfile=${passwordFile}`, '-c', 'scram_iterations=1'];
  // Shared memory consists of files in the folder, so that nothing of it is left after a kill. The watchdog
  // does the rest and needs the lock file, so initdb must not clean up. It does not sync, because this
  // folder need not survive a crash of the machine.
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
 * Below the ephemeral ports (from 32,768 on): otherwise an outgoing connection could take the port while
 * the server is down, and it could not start again.
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
