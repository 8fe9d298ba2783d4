// The packed file, installed like a user would: it must start on the oldest and the newest line of Node, run no
// install scripts, and contain no unneeded files.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { cp, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { newFolder, runChild, serve, type Program } from '../cli/ringback-process.ts';
import { header, receive } from '../e2e/receiver.ts';
import {
  installedPackage,
  npm,
  whyNotInstalled,
  type InstalledPackage,
} from './install-package.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');
const manifest = read(join(root, 'package.json'));
const skip = await whyNotInstalled();
const libraries = [
  { name: 'client', maker: 'createClient', folders: ['client'] },
  { name: 'middleware', maker: 'ringbackExpress', folders: ['client', 'middleware'] },
  { name: 'receiver', maker: 'createReceiver', folders: ['receiver'] },
];

describe('the installed package', { skip }, () => {
  let installed: InstalledPackage;
  before(async () => {
    installed = await installedPackage();
  });
  after(async () => installed[Symbol.asyncDispose]());

  for (const line of [24, 26] as const) {
    it(`delivers, serves its pages and stops on Node ${line}`, async () => {
      const node = line === 24 ? installed.node24 : installed.node26;
      assert.match((await run(node, ['--version'])).stdout, new RegExp(`^v${line}\\.`));
      await using folder = await newFolder();
      await smoke([node, installed.bin], folder.path);
    });
  }

  it('is started by npx, and stopped by Ctrl-C', async () => {
    await using folder = await newFolder();
    const env = {
      ...process.env,
      PATH: [dirname(installed.node26), process.env['PATH']].join(delimiter),
      RINGBACK_DATA: folder.path,
      RINGBACK_PORT: '0',
    };
    // Ctrl-C signals all processes of the terminal; npx alone does not forward signals.
    const npx = spawn('npx', ['--no', 'ringback', 'serve'], {
      cwd: installed.folder,
      env,
      detached: true,
    });
    let log = '';
    npx.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
    const ended = once(npx, 'close');
    const isUp = await Promise.race([once(npx.stdout, 'data'), ended.then(() => false)]);
    if (isUp) process.kill(-Number(npx.pid), 'SIGINT');
    const net = setTimeout(() => process.kill(-Number(npx.pid), 'SIGKILL'), 120_000);
    await ended;
    clearTimeout(net);
    assert.match(log, /"msg":"started".*"msg":"stopped"/s);
  });

  it('explains in one sentence that an older Node is not supported', async () => {
    // Tested with a Node that pretends to be older, and with a real older one if the machine has it.
    const pretend =
      'data:text/javascript,Object.defineProperty(process.versions,"node",{value:"24.11.1"})';
    const program: Program = [installed.node26, '--import', pretend, installed.bin];
    const { code, out, err } = await runChild(['serve'], {}, program);
    const sentence =
      /^Cannot start Ringback \S+: it needs Node 24\.12 or newer, and this is Node \S+\n$/;
    assert.deepEqual([code, out], [1, '']);
    assert.match(err, sentence);
    assert.equal(manifest.engines?.node, '>=24.12');
    for (const node of await olderNodes()) {
      const real = await runChild(['serve'], {}, [node, installed.bin]);
      assert.deepEqual([real.code, real.out], [1, '']);
      assert.match(real.err, sentence);
    }
  });

  it('reports that it was packed without being built', async () => {
    await using folder = await newFolder();
    await cp(join(root, 'bin'), join(folder.path, 'bin'), { recursive: true });
    await cp(join(root, 'package.json'), join(folder.path, 'package.json'));
    const unbuilt: Program = [process.execPath, join(folder.path, 'bin', 'ringback.js')];
    const { code, err } = await runChild(['--version'], {}, unbuilt);
    assert.equal(code, 1);
    assert.match(err, /^Cannot start Ringback \S+: this package was packed without being built/);
  });

  it('contains the needed files and no others', () => {
    const place = join(installed.folder, 'node_modules', 'ringback');
    const files = globSync('**/*.*', { cwd: place });
    const unknown = files.filter((path) => !expected.some((pattern) => pattern.test(path)));
    assert.deepEqual(unknown, []);
    for (const pattern of expected) {
      assert(
        files.some((path) => pattern.test(path)),
        `no file of the package matches ${pattern}`,
      );
    }
    const bytes = files.map((path) => readFileSync(join(place, path), 'utf8')).join('\n');
    assert(!bytes.includes(root), 'a path of this machine is in the package');
  });

  it('runs no install scripts, nor does any of its dependencies', () => {
    const scripts = packagesOf(installed).flatMap(({ name, scripts: own, hasGyp }) => [
      ...['preinstall', 'install', 'postinstall'].filter((event) => own.includes(event)),
      ...(hasGyp ? [`${name}: binding.gyp`] : []),
    ]);
    assert.deepEqual(scripts, []);
    const lock = readFileSync(join(installed.folder, 'node_modules', '.package-lock.json'), 'utf8');
    assert(!lock.includes('hasInstallScript'));
    // npm warns about it if a package is installed from a file.
    assert(!Object.keys(manifest.scripts ?? {}).includes('prepare'));
  });

  it('has the size and the number of packages that the README states', () => {
    const [, packages, megabytes, megabytesOnDisk] =
      /\*\*(\d+) packages, (\d+) MB\*\* \((\d+) MB on a disk/.exec(readme()) ?? [];
    const { bytes, bytesOnDisk } = sizeOf(join(installed.folder, 'node_modules'));
    assert.equal(packagesOf(installed).length, Number(packages));
    assertNear(bytes / 1e6, Number(megabytes));
    assertNear(bytesOnDisk / 1e6, Number(megabytesOnDisk));
  });

  it('has no known vulnerability', async (context) => {
    await audit(installed.folder, context);
  });
});

describe('a library of the installed package', { skip }, () => {
  let installed: InstalledPackage;
  before(async () => {
    installed = await installedPackage();
  });
  after(async () => installed[Symbol.asyncDispose]());

  it('includes its types, for Node and other runtimes', async () => {
    const lines = libraries.map(
      ({ name, maker }) => `export { ${maker} } from 'ringback/${name}';`,
    );
    await writeFile(join(installed.folder, 'user.mts'), `${lines.join('\n')}\n`);
    const elsewhere = { lib: ['esnext', 'dom'], types: [] };
    const typeRoots = [join(root, 'node_modules', '@types')];
    for (const world of [elsewhere, { lib: ['esnext'], types: ['node'], typeRoots }]) {
      const path = join(installed.folder, 'tsconfig.json');
      const config = { compilerOptions: { ...strict, ...world }, files: ['user.mts'] };
      await writeFile(path, JSON.stringify(config));
      await run(join(root, 'node_modules', '.bin', 'tsc'), ['-p', path]);
    }
  });

  for (const { name, maker, folders } of libraries) {
    it(`ringback/${name} has no dependencies`, async () => {
      await using folder = await newFolder();
      const dist = join(installed.folder, 'node_modules', 'ringback', 'dist');
      for (const one of folders) {
        await cp(join(dist, one), join(folder.path, one), { recursive: true });
      }
      await writeFile(join(folder.path, 'package.json'), '{ "type": "module" }');
      const alone = join(folder.path, name, `${name}.js`);
      const named = `import('ringback/${name}')`;
      for (const node of [installed.node24, installed.node26]) {
        for (const [cwd, module] of [
          [folder.path, `import(${JSON.stringify(alone)})`],
          [installed.folder, named],
        ]) {
          const code = `${module}.then((one) => console.log(typeof one.${maker}))`;
          assert.equal((await run(node, ['-e', code], { cwd })).stdout, 'function\n');
        }
      }
    });
  }
});

/** Subscribes, publishes, receives, reads the pages, and stops the service. */
async function smoke(program: Program, folder: string): Promise<void> {
  await using receiver = await receive();
  await using service = await serve({ RINGBACK_DATA: join(folder, 'data') }, [], program);
  const call = async (path: string, body?: object): Promise<Response> =>
    fetch(`${service.url}${path}`, {
      headers: { 'x-api-key': String(service.key), 'content-type': 'application/json' },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });
  const subscribed = await call('/subscribe', { callbackUrl: receiver.url });
  assert.equal(subscribed.status, 201);
  const { secret } = (await subscribed.json()) as { secret: string };
  const payload = { message: 'Order 42' };
  assert.equal((await call('/events', { event: 'order.created', payload })).status, 202);
  const [callback] = await receiver.waitFor(1);
  assert(callback);
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;
  const headers = Object.fromEntries(names.map((name) => [name, header(callback, name)]));
  assert.deepEqual(new Webhook(secret).verify(callback.body, headers), payload);
  assert.match(service.out(), /^ {2}npx ringback listen /m);
  const page = await (await call('/console')).text();
  const files = [...page.matchAll(/(?:src|href)="(\/console\/assets\/[^"]+)"/g)];
  assert(files.length >= 2, page);
  for (const [, path = ''] of files) assert.equal((await call(path)).status, 200, path);
  assert.match(await (await call('/docs')).text(), /<style>[^<]*\{.*<h1/s);
  assert.match(await (await call('/openapi.yaml')).text(), /^openapi: /);
  service.signal('SIGTERM');
  assert.equal(await service.ended, 0, service.err());
  // Only the log is on stderr: Node prints no warning about experimental or deprecated features.
  const lines = service.err().trim().split('\n');
  for (const line of lines) assert.doesNotThrow(() => JSON.parse(line), line);
}

const expected = [
  /^(package\.json|README\.md|LICENSE|openapi\.yaml)$/,
  /^CHANGELOG\.md$/,
  /^bin\/ringback\.js$/,
  /^dist\/(?!.*\.test\.js).*\.js$/,
  /^dist\/(page\.css|openapi\.json)$/,
  /^dist\/(client|middleware|receiver)\/.*\.d\.ts$/,
  /^console\/dist\/((index|portal)\.html|embed\.js|assets\/[\w-]+\.(js|css|svg))$/,
  /^migrations\/(sqlite|postgres)\/\d{4}_[\w]+\.sql$/,
  /^migrations\/schema-0018-(sqlite|postgres)\.txt$/,
];

const strict = { strict: true, noEmit: true, module: 'nodenext', skipLibCheck: false };

/** Older versions of Node on the machine's PATH. */
async function olderNodes(): Promise<string[]> {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const found = new Set(
    folders.map((path) => join(path, 'node')).filter((path) => existsSync(path)),
  );
  const older: string[] = [];
  for (const node of found) {
    const { stdout } = await run(node, ['--version']);
    const major = Number(/^v(\d+)\./.exec(stdout)?.[1]);
    if (major >= 18 && major < 24) older.push(node);
  }
  return older;
}

interface Package {
  name: string;
  /** Names of its scripts. */
  scripts: readonly string[];
  hasGyp: boolean;
}

function packagesOf({ folder }: InstalledPackage): Package[] {
  const lock = read(join(folder, 'node_modules', '.package-lock.json'));
  return Object.keys(lock.packages ?? {}).map((path) => {
    const own = read(join(folder, path, 'package.json'));
    return {
      name: own.name,
      scripts: Object.keys(own.scripts ?? {}),
      hasGyp: existsSync(join(folder, path, 'binding.gyp')),
    };
  });
}

const blockBytes = 4096;

function sizeOf(folder: string): { bytes: number; bytesOnDisk: number } {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const entries = paths.map((path) => lstatSync(join(folder, path)));
  const files = entries.filter((entry) => entry.isFile());
  const blocks = entries.map((entry) => (entry.isFile() ? Math.ceil(entry.size / blockBytes) : 1));
  return {
    bytes: files.reduce((sum, { size }) => sum + size, 0),
    bytesOnDisk: blocks.reduce((sum, count) => sum + count, 0) * blockBytes,
  };
}

function assertNear(actual: number, told: number): void {
  const isNear = Math.abs(actual - told) <= told * 0.1;
  assert(isNear, `found ${actual.toFixed(1)} MB, the README states ${told}`);
}

function readme(): string {
  return readFileSync(join(root, 'README.md'), 'utf8');
}

/** Skips if the registry does not support audits. */
async function audit(folder: string, context: TestContext): Promise<void> {
  try {
    const report = await npm(folder, 'audit', '--json', '--audit-level=none');
    const { vulnerabilities } = JSON.parse(report) as { vulnerabilities: object };
    assert.deepEqual(vulnerabilities, {});
  } catch (error) {
    if (!String(error).includes('audit endpoint returned an error')) throw error;
    context.skip(`the registry has no audit: ${/"message": .*/.exec(String(error))?.[0]}`);
  }
}

/** A package.json, or the lock file of installed packages. */
interface Manifest {
  name: string;
  engines?: { node: string };
  scripts?: object;
  packages?: object;
}

function read(path: string): Manifest {
  return JSON.parse(readFileSync(path, 'utf8')) as Manifest;
}
