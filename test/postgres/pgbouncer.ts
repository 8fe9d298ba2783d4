// A real PgBouncer in front of PostgreSQL, if it is installed. Nothing of it outlives the process.
import { accessSync, constants } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { accountFor } from './os-account.ts';
import { run } from './postgres-program.ts';
import { freePort } from './server.ts';
import { watch } from './watchdog.ts';

export interface PgBouncer extends AsyncDisposable {
  url: string;
}

export interface PgBouncerOptions {
  mode: 'transaction' | 'statement' | 'session';
  /** Other lines of the section [pgbouncer]. */
  settings?: Readonly<Record<string, string | number>>;
}

/** The path of its program, if installed. Packages put it into folders that may be missing in a user's PATH. */
export function findPgBouncer(): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  return folders.map((folder) => join(folder, 'pgbouncer')).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** `target`: the URL of the server. PgBouncer accepts the same user and password. */
export async function startPgBouncer(
  program: string,
  target: string,
  { mode, settings = {} }: PgBouncerOptions,
): Promise<PgBouncer> {
  const url = new URL(target);
  const folder = await mkdtemp(join(tmpdir(), 'ringback-pgbouncer-'));
  const watchdog = watch(folder);
  try {
    const port = await freePort();
    const quoted = [url.username, url.password].map(
      (text) => `"${decodeURIComponent(text).replaceAll('"', '""')}"`,
    );
    await writeFile(join(folder, 'users'), `${quoted.join(' ')}\n`);
    const lines = {
      listen_addr: '127.0.0.1',
      listen_port: port,
      unix_socket_dir: '',
      auth_type: 'plain',
      auth_file: join(folder, 'users'),
      pool_mode: mode,
      ...settings,
    };
    const config = [
      '[databases]',
      `* = host=${url.hostname} port=${url.port || 5432}`,
      '[pgbouncer]',
      ...Object.entries(lines).map(([name, value]) => `${name} = ${value}`),
    ];
    await writeFile(join(folder, 'config'), `${config.join('\n')}\n`);
    const account = accountFor(folder);
    const child = run(program, [join(folder, 'config')], { ...account, cwd: folder });
    watchdog.guard(child.pid);
    await child.says('process up');
    child.unref();
    url.host = `127.0.0.1:${port}`;
    return {
      url: url.href,
      [Symbol.asyncDispose]: async () => {
        child.ref();
        await watchdog.end();
        await child.gone;
      },
    };
  } catch (error) {
    await watchdog.end();
    throw error;
  }
}
