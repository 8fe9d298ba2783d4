// The package as a user has it: packed from a copy of the checkout by npm with its scripts, installed from the file
// into an empty folder with scripts blocked, and the oldest line of Node that it must run on beside it. Made
// once for all test files of a run (10 s), and never in the checkout, where others read dist and console/dist.
import { execFile, type ExecFileException } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, rm, rmdir, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface InstalledPackage extends AsyncDisposable {
  /** A fresh folder that has node_modules/ringback; node_modules is shared, so only read it. */
  folder: string;
  /** What `npx ringback` runs in that folder; give it to a node to choose which. */
  bin: string;
  /** What `npm pack` made: ringback-0.1.0.tgz. */
  tarball: string;
  /** Node 24 and 26 themselves. */
  node24: string;
  node26: string;
}

/** Rejects where the registry cannot be reached: ask whyNotInstalled() first. */
export async function installedPackage(): Promise<InstalledPackage> {
  const { installed, tarball, node24 } = await shared();
  const folder = await mkdtemp(join(tmpdir(), 'ringback-installed-'));
  await symlink(join(installed, 'node_modules'), join(folder, 'node_modules'));
  for (const name of ['package.json', 'package-lock.json']) {
    await cp(join(installed, name), join(folder, name));
  }
  return {
    folder,
    bin: join(folder, 'node_modules', '.bin', 'ringback'),
    tarball,
    node24,
    node26: process.execPath,
    [Symbol.asyncDispose]: async () => rm(folder, { recursive: true, force: true }),
  };
}

/** For the `skip` of a test: false, or why the package cannot be installed here. Other failures reject. */
export async function whyNotInstalled(): Promise<string | false> {
  try {
    await shared();
    return false;
  } catch (error) {
    if (error instanceof RegistryUnreachable) return error.message;
    throw error;
  }
}

export class RegistryUnreachable extends Error {}

/** npm in a folder, as the machine has set it up. Resolves to what it printed on stdout. */
export async function npm(folder: string, ...args: readonly string[]): Promise<string> {
  const done = Promise.withResolvers<string>();
  const settings = { cwd: folder, timeout: patienceMs, maxBuffer: outputBytesMax };
  const answer = (error: ExecFileException | null, out: string, err: string): void => {
    if (error === null) done.resolve(out);
    else done.reject(npmFailure(args.join(' '), `${out}${err}`, error));
  };
  execFile('npm', [...args], settings, answer);
  return done.promise;
}

/** A net under a test that would hang: no test that passes comes near it. */
const patienceMs = 180_000;
const outputBytesMax = 16 * 1024 * 1024;

function npmFailure(command: string, said: string, cause: ExecFileException): Error {
  const code = unreachableCodes.find((known) => said.includes(`code ${known}`));
  if (code !== undefined) return new RegistryUnreachable(`npm cannot reach its registry: ${code}`);
  return new Error(`npm ${command} failed: ${said}`, { cause });
}

const unreachableCodes = [
  'ENOTFOUND',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'ETIMEDOUT',
  'ENETUNREACH',
  'ENOTCACHED',
];

interface Shared {
  installed: string;
  tarball: string;
  node24: string;
}

let made: Promise<Shared> | undefined;

/** One folder for all files of a run, where the global setup has made one; else one of this process. */
function shared(): Promise<Shared> {
  made ??= makeIn(process.env['TEST_SHARED_FOLDER'] ?? ownFolder());
  return made;
}

function ownFolder(): string {
  const path = mkdtempSync(join(tmpdir(), 'ringback-package-'));
  process.on('exit', () => rmSync(path, { recursive: true, force: true }));
  return path;
}

async function makeIn(folder: string): Promise<Shared> {
  await using _turn = await takeTurn(join(folder, 'package.lock'));
  const place = join(folder, 'package');
  const installed = join(place, 'installed');
  const node = join(place, 'node-24');
  const done = join(place, 'done');
  const paths = {
    installed,
    tarball: join(place, 'checkout', await tarballName()),
    node24: join(node, 'node_modules', nodePackage, 'bin', 'node'),
  };
  if (existsSync(done)) return paths;
  // What another file could not finish is begun anew.
  await rm(place, { recursive: true, force: true });
  const work = [pack(join(place, 'checkout')), installNode(node)];
  await Promise.allSettled(work); // Whoever begins anew must not find one of them at work.
  await Promise.all(work);
  await emptyProject(installed);
  await npm(installed, ...install, paths.tarball);
  await writeFile(done, '');
  return paths;
}

const root = join(import.meta.dirname, '..', '..');

async function tarballName(): Promise<string> {
  const { default: manifest } = await import('../../package.json', { with: { type: 'json' } });
  return `ringback-${manifest.version}.tgz`;
}

/** The registry is asked only for what npm has not kept from the last time, and not for minutes. */
const quick = [
  '--prefer-offline',
  '--fetch-retry-mintimeout=1000',
  '--fetch-retry-maxtimeout=2000',
];
const install = ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...quick];

/** Packs a copy of the checkout, which has neither been built nor packed before. */
async function pack(checkout: string): Promise<void> {
  await mkdir(checkout, { recursive: true });
  const entries = (await readdir(root)).filter((name) => !notCopied.has(name));
  const unbuilt = (path: string): boolean => path !== join(root, 'console', 'dist');
  for (const name of entries) {
    await cp(join(root, name), join(checkout, name), { recursive: true, filter: unbuilt });
  }
  await symlink(join(root, 'node_modules'), join(checkout, 'node_modules'));
  await npm(checkout, 'pack', '--ignore-scripts=false', '--loglevel=error');
}

const notCopied = new Set(['.git', 'node_modules', 'dist', 'data', 'coverage']);

const platform = process.platform === 'win32' ? 'win' : process.platform;
const nodePackage = `node-${platform}-${process.arch}`;

/** The binary alone, as the package `node` fetches it; its own install script stays blocked. */
async function installNode(folder: string): Promise<void> {
  await emptyProject(folder);
  await npm(folder, ...install, `${nodePackage}@24.21.0`);
}

async function emptyProject(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
}

const askMs = 50;

async function takeTurn(lock: string): Promise<AsyncDisposable> {
  for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += askMs) {
    try {
      await mkdir(lock);
      return { [Symbol.asyncDispose]: async () => rmdir(lock) };
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
    await sleep(askMs);
  }
  throw new Error(`Cannot install the package: "${lock}" is there for ${patienceMs} ms`);
}
