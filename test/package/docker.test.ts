// The Dockerfile and the compose files, as far as they can be tried without an engine: what they copy is there, what
// they run runs, what they set can be read, and no secret stands in them.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { load } from 'js-yaml';
import { readConfig } from '../../src/config.ts';
import { settings } from '../../src/config/settings.ts';
import { newFolder, serve, type Program } from '../cli/ringback-process.ts';
import { installedPackage, whyNotInstalled } from './install-package.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');
const text = (path: string): string => readFileSync(join(root, path), 'utf8');

interface Instruction {
  name: string;
  rest: string;
  /** From 0: the build, then the image. */
  stage: number;
}

const skip = await whyNotInstalled();
const instructions = readDockerfile(text('Dockerfile'));
const known = new Map<string, object>(Object.values(settings).map((row) => [row.env, row]));
const secretNames = [...known].filter(([, row]) => 'isSecret' in row).map(([name]) => name);

describe('Dockerfile', () => {
  it('copies what is there and what the build may see', () => {
    const sources = of('COPY')
      .filter((rest) => !rest.startsWith('--from=build '))
      .flatMap((rest) => rest.split(' ').slice(0, -1));
    assert(sources.length > 3);
    const context = visible();
    for (const source of sources) {
      assert(existsSync(join(root, source)), `${source} exists`);
      if (source !== '.') assert(context.has(source.split('/')[0] ?? ''), `${source} is visible`);
    }
    assert.deepEqual(of('ADD'), []);
  });

  it('lets the build see all that the package is made of, and neither data nor secrets', () => {
    const { files } = JSON.parse(text('package.json')) as { files: string[] };
    const needed = files.map((path) => path.split('/')[0] ?? '').filter((path) => path !== 'dist');
    assert.deepEqual(new Set(needed).difference(visible()), new Set());
    for (const name of ['.env', '.git', 'data', 'node_modules', 'test', 'secrets']) {
      assert(!visible().has(name), name);
    }
    assert.match(text('.dockerignore'), /^\*$/m);
  });

  it('runs as a user who is not root, without a shell between it and signals', () => {
    const image = instructions.filter(({ stage }) => stage === 1);
    const names = image.map(({ name }) => name);
    assert.equal(image.find(({ name }) => name === 'USER')?.rest, 'node');
    assert(names.indexOf('USER') < names.indexOf('ENTRYPOINT'));
    assert.deepEqual(
      names.slice(names.indexOf('USER')).filter((name) => name === 'RUN'),
      [],
    );
    for (const name of ['ENTRYPOINT', 'CMD']) assert(Array.isArray(JSON.parse(of(name)[0] ?? '')));
    const { engines } = JSON.parse(text('package.json')) as { engines: { node: string } };
    for (const base of of('FROM')) {
      assert(Number(/^node:(\d+)-slim/.exec(base)?.[1]) >= Number.parseInt(engines.node.slice(2)));
    }
  });

  it('sets what can be read, and no secret', () => {
    const env = imageEnv();
    assertKnown(env);
    assertReads(env);
    assert.deepEqual(of('ARG'), []);
    for (const name of secretNames) assert(!(name in env), name);
    assert.deepEqual(of('VOLUME'), [env['RINGBACK_DATA']]);
  });

  it('builds what starts, is healthy while it runs, and stops', { skip }, async () => {
    await using installed = await installedPackage();
    await using folder = await newFolder();
    for (const path of [installed.tarball, join(root, 'package-lock.json')]) {
      await cp(path, join(folder.path, basename(path)));
    }
    await cp(join(root, 'docker'), join(folder.path, 'package', 'docker'), { recursive: true });
    const built = instructions.filter(({ name, stage }) => name === 'RUN' && stage === 0);
    const commands = built.map(({ rest }) => rest);
    // The first is the checkout's own install, the second was done the same way for all of these tests.
    assert.deepEqual(commands.slice(0, 2), ['npm ci --ignore-scripts', 'npm pack']);
    const env = { ...process.env, npm_config_prefer_offline: 'true' };
    for (const command of commands.slice(2)) {
      await run('sh', ['-ec', command], { cwd: folder.path, env });
    }
    const app = join(folder.path, 'package');
    assert(!existsSync(join(app, 'node_modules', 'typescript')), 'no development dependency');
    await startAndStop(app, join(folder.path, 'data'));
  });
});

for (const file of ['compose.yaml', 'compose.postgres.yaml']) {
  describe(file, () => {
    const { services } = load(text(file)) as { services: Record<string, Service> };
    const nodes = Object.values(services).filter(({ image }) => image === 'ringback');

    it('gives every node settings that can be read', () => {
      assert(nodes.length > 0);
      for (const { environment } of nodes) {
        const env = { ...imageEnv(), ...interpolate(environment, samples) };
        assertKnown(env);
        assertReads(env);
      }
    });

    it('holds no secret: each comes from outside, and one that is needed is asked for', () => {
      for (const { environment } of Object.values(services)) {
        for (const [name, value] of Object.entries(environment)) {
          if (!/KEY|PASSWORD|SECRET|TOKEN|DATABASE_URL/.test(name)) continue;
          const fixed = value.replaceAll(/\$\{\w+(?::[?-][^}]*)?\}/g, '');
          assert.match(fixed, /^$|^postgres:\/\/ringback:@database:5432\/ringback$/, name);
        }
      }
      if (file === 'compose.yaml') return;
      const [node] = nodes;
      assert(node);
      assert.throws(
        () => interpolate(node.environment, {}),
        /see the top of compose.postgres.yaml/,
      );
    });

    it('shows the service to this machine only, and takes away what it does not need', () => {
      for (const { ports = [] } of Object.values(services)) {
        for (const port of ports) assert.match(port, /^127\.0\.0\.1:8080:8080$/);
      }
      for (const node of nodes) {
        assert.equal(node.read_only, true);
        assert.deepEqual(node.cap_drop, ['ALL']);
        assert.deepEqual(node.build, '.');
        const isAlone = file === 'compose.yaml';
        assert.deepEqual(
          node.volumes,
          isAlone ? [`data:${imageEnv()['RINGBACK_DATA']}`] : undefined,
        );
      }
      const count = nodes.reduce((sum, { deploy }) => sum + (deploy?.replicas ?? 1), 0);
      assert.equal(count, file === 'compose.yaml' ? 1 : 3);
    });

    it('lets the longest attempt end, and limits memory and logs', () => {
      assert.equal(readConfig({ RINGBACK_TIMEOUT: '60s' }).kind, 'config');
      assert.equal(readConfig({ RINGBACK_TIMEOUT: '61s' }).kind, 'mistakes');
      for (const node of nodes) {
        assert(Number(/^(\d+)s$/.exec(node.stop_grace_period)?.[1]) > 60);
        assert.equal(node.mem_limit, '1g');
      }
      for (const { logging } of Object.values(services)) {
        assert.deepEqual(logging.options, { 'max-size': '10m', 'max-file': '5' });
      }
    });
  });
}

describe('docker/database.sql', () => {
  it('makes the role and the schema that the page makes, whose SQL is tested, and no superuser', () => {
    const script = text('docker/database.sql').replaceAll(/^(--|\\).*\n/gm, '');
    const [, page = ''] =
      /## Start a cluster[^]*?```sql\n([^]*?)```/.exec(text('docs/operations.md')) ?? [];
    const named = page
      .replaceAll('ringback_service', 'ringback')
      .replace("'change-me'", ":'password'");
    assert.equal(script, named);
  });

  it('is where PostgreSQL looks, with the password that the nodes use', () => {
    const { services } = load(text('compose.postgres.yaml')) as {
      services: Record<string, Service>;
    };
    const { database } = services;
    assert(database);
    const mount = './docker/database.sql:/docker-entrypoint-initdb.d/ringback.sql:ro';
    assert(database.volumes?.includes(mount));
    const [, variable = ''] = /^\\getenv password (\w+)$/m.exec(text('docker/database.sql')) ?? [];
    const { DATABASE_URL = '' } = interpolate(services['ringback']?.environment ?? {}, samples);
    const own = interpolate(database.environment, samples);
    assert.equal(new URL(DATABASE_URL).password, own[variable]);
    assert.equal(new URL(DATABASE_URL).pathname, `/${own['POSTGRES_DB']}`);
    assert.notEqual(own['POSTGRES_PASSWORD'], own[variable]);
  });
});

interface Service {
  image: string;
  build?: string;
  environment: Record<string, string>;
  ports?: string[];
  volumes?: string[];
  read_only?: boolean;
  cap_drop?: string[];
  deploy?: { replicas: number };
  stop_grace_period: string;
  mem_limit?: string;
  logging: { options: Record<string, string> };
}

const samples = {
  POSTGRES_PASSWORD: 'decade'.repeat(8),
  RINGBACK_DB_PASSWORD: 'c0ffee'.repeat(8),
  RINGBACK_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
};

/** As compose does it: `${NAME:-default}` and `${NAME:?message}`. */
function interpolate(
  environment: Readonly<Record<string, string>>,
  outside: Readonly<Record<string, string>>,
): Record<string, string> {
  const pattern = /\$\{(\w+):([?-])([^}]*)\}/g;
  const entries = Object.entries(environment).map(([name, value]) => {
    const filled = value.replaceAll(
      pattern,
      (_all, variable: string, kind: string, rest: string) => {
        const given = outside[variable];
        if (given === undefined && kind === '?') throw new Error(`${variable}: ${rest}`);
        return given ?? rest;
      },
    );
    return [name, filled];
  });
  return Object.fromEntries(entries) as Record<string, string>;
}

/** In the image, with the port changed, since others may have it, and on loopback. */
async function startAndStop(app: string, data: string): Promise<void> {
  const json = (name: string): string[] => JSON.parse(of(name)[0] ?? '') as string[];
  const [command = '', ...before] = [...json('ENTRYPOINT'), ...json('CMD')];
  assert.equal(command, 'node');
  const [entry = '', ...args] = before;
  assert.deepEqual(args, ['serve']);
  const env = { ...imageEnv(), RINGBACK_HOST: '127.0.0.1', RINGBACK_DATA: data };
  const program: Program = [process.execPath, join(app, entry)];
  await using service = await serve(env, [], program);
  const [, check = ''] = /CMD (\[.*\])$/.exec(of('HEALTHCHECK')[0] ?? '') ?? [];
  const [node, ...script] = JSON.parse(check) as string[];
  assert.equal(node, 'node');
  const { port } = new URL(service.url);
  const ask = async (): Promise<unknown> =>
    run(process.execPath, script, { cwd: app, env: { RINGBACK_PORT: port } });
  await ask();
  service.signal('SIGTERM');
  assert.equal(await service.ended, 0);
  await assert.rejects(ask(), /ECONNREFUSED/);
}

function readDockerfile(source: string): Instruction[] {
  const lines = source.replaceAll('\\\n', ' ').split('\n');
  const wanted = lines.filter((line) => line !== '' && !line.startsWith('#'));
  let stage = -1;
  return wanted.map((line) => {
    const [, name = '', rest = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    assert.notEqual(name, '', line);
    if (name === 'FROM') stage += 1;
    return { name, rest, stage };
  });
}

function of(wanted: string): string[] {
  return instructions.filter(({ name }) => name === wanted).map(({ rest }) => rest);
}

function imageEnv(): Record<string, string> {
  const pairs = of('ENV').flatMap((rest) => rest.split(' '));
  return Object.fromEntries(pairs.map((pair) => pair.split('=') as [string, string]));
}

/** Names at the top of what an engine is sent. */
function visible(): Set<string> {
  const lines = text('.dockerignore').split('\n');
  return new Set(lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1)));
}

function assertKnown(env: Readonly<Record<string, string>>): void {
  const names = Object.keys(env).filter((name) => name !== 'NODE_ENV');
  assert.deepEqual(
    names.filter((name) => !known.has(name) && !known.has(name.replace(/_FILE$/, ''))),
    [],
  );
}

function assertReads(env: Readonly<Record<string, string>>): void {
  const reading = readConfig(env);
  assert.deepEqual(reading.kind === 'mistakes' ? reading.mistakes : [], []);
}
