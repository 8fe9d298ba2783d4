// `ringback serve --contract` as a real process: what it prints about foreign documents, and when it
// refuses them.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { receive } from '../e2e/receiver.ts';
import {
  newFolder,
  runChild,
  serve,
  type Env,
  type Folder,
  type Serving,
} from './ringback-process.ts';

const run = promisify(execFile);
const hasCurl = await run('curl', ['--version']).then(
  () => true,
  () => false,
);
const documents = join(import.meta.dirname, '..', 'e2e', 'contracts', 'documents');
const query = join(documents, 'query.yaml');

/** A document with one subscribe operation, written into the folder. */
function write({ path }: Folder, name: string, more: string): string {
  const file = join(path, name);
  const text = `openapi: 3.1.0
info: { title: ${name}, version: '1' }
servers: [{ url: /${name} }]
${more}
paths:
  /hooks:
    post:
      parameters:
        - { name: X-Kind, in: header, required: true, schema: { type: string, enum: ["it's"] } }
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              required: [url, level]
              properties: { url: { type: string }, level: { type: integer, minimum: 3 } }
      responses: { '201': { description: made } }
      callbacks:
        raised:
          '{$request.body#/url}':
            post:
              requestBody:
                content: { application/json: { schema: { type: object, required: [level] } } }
              responses: { '200': { description: ok } }
`;
  writeFileSync(file, text);
  return file;
}

function data({ path }: Folder): Env {
  return { RINGBACK_DATA: join(path, 'data'), RINGBACK_LOG: 'warn' };
}

/** Runs each printed curl line as if pasted into a shell; returns the statuses. */
async function paste(child: Serving): Promise<string[]> {
  const lines = child
    .out()
    .split('\n')
    .filter((line) => line.startsWith('  curl '));
  const { PATH = '' } = process.env;
  const statuses: string[] = [];
  for (const line of lines) {
    const silent = `${line} -sS -o /dev/null -w '%{http_code}'`;
    statuses.push((await run('sh', ['-c', silent], { env: { PATH } })).stdout);
  }
  return statuses;
}

describe('ringback serve --contract', () => {
  it('serves only the document, and warns that it requires no key', async () => {
    await using folder = await newFolder();
    await using child = await serve(data(folder), ['--contract', query]);
    await using receiver = await receive();
    assert.match(child.out(), /Executing the callbacks of\n {2}"Query"\n/);
    assert.match(
      child.out(),
      /Warning: the document "Query" requires no key for POST \/subscribe, POST \/unsubscribe: anyone who can reach this address/,
    );
    const path = `${child.url}/subscribe?callbackUrl=${receiver.url}&event=a`;
    assert.equal((await fetch(path, { method: 'POST' })).status, 201);
    const published = await fetch(`${child.url}/events`, {
      method: 'POST',
      headers: { 'x-api-key': child.key ?? '', 'content-type': 'application/json' },
      body: '{"event":"a","payload":{"message":"hello"}}',
    });
    assert.equal(published.status, 202);
    const [request] = await receiver.waitFor(1);
    assert.equal(request?.url, '/hook?event=a');
  });

  const schemes: Record<string, string> = {
    query: '{ type: apiKey, in: query, name: k }',
    bearer: '{ type: http, scheme: bearer }',
    basic: '{ type: http, scheme: basic }',
  };
  it(
    'prints lines that work as pasted, wherever the key is sent',
    { skip: !hasCurl && 'curl is not installed' },
    async () => {
      for (const [name, scheme] of Object.entries(schemes)) {
        await using folder = await newFolder();
        const requirement = name === 'bearer' ? '{ s: [], app: [] }' : '{ s: [] }';
        const app = 'app: { type: apiKey, in: header, name: X-APP-ID }';
        const file = write(
          folder,
          name,
          `security: [${requirement}]\ncomponents: { securitySchemes: { s: ${scheme}, ${app} } }`,
        );
        await using child = await serve(data(folder), ['--contract', file]);
        assert.doesNotMatch(child.out(), /Warning/, name);
        assert.deepEqual(await paste(child), ['201', '202', '200'], `${name}\n${child.out()}`);
      }
    },
  );

  it('accepts several, by flags and by the variable, and names the open ones', async () => {
    await using folder = await newFolder();
    const shut = 'components: { securitySchemes: { b: { type: http, scheme: bearer } } }';
    const a = write(folder, 'a', `security: [{ b: [] }]\n${shut}`);
    const b = write(folder, 'b', `security: [{ b: [] }, {}]\n${shut}`);
    const titles = async (child: Serving): Promise<string[]> => {
      const { items } = (await (await fetch(`${child.url}/contracts`)).json()) as {
        items: { title: string }[];
      };
      return items.map(({ title }) => title);
    };
    {
      await using child = await serve(data(folder), ['--contract', a, `--contract=${b}`]);
      assert.deepEqual(await titles(child), ['a', 'b']);
      assert.doesNotMatch(child.out(), /document of "a" asks/);
      assert.match(child.out(), /document "b" requires no key for POST \/b\/hooks/);
    }
    const env = { ...data(folder), RINGBACK_CONTRACT: `${b}, ${a}` };
    await using child = await serve(env);
    assert.deepEqual(await titles(child), ['b', 'a']);
  });

  it('logs repairs with their location, and runs', async () => {
    await using folder = await newFolder();
    const file = write(folder, 'sloppy', '');
    const text = readFileSync(file, 'utf8').replace('{$request.body#/url}', '{ request.body#url}');
    writeFileSync(file, text);
    await using child = await serve(data(folder), ['--contract', file]);
    await child.says(
      /"pointer":"#\/paths\/~1hooks\/post\/callbacks\/raised\/.*"\$\\" was missing/,
      'err',
    );
  });

  it('--lenient needs no value, and accepts an invalid payload with a warning', async () => {
    await using folder = await newFolder();
    await using child = await serve(data(folder), ['--lenient', '--contract', query]);
    const published = await fetch(`${child.url}/events`, {
      method: 'POST',
      headers: { 'x-api-key': child.key ?? '', 'content-type': 'application/json' },
      body: '{"event":"a","payload":{}}',
    });
    assert.equal(published.status, 202);
    const { warnings } = (await published.json()) as { warnings: unknown[] };
    assert.equal(warnings.length, 1);
  });

  it('explains in one sentence what it cannot serve, and creates nothing, not even the first key', async () => {
    await using folder = await newFolder();
    const mine = write(folder, 'mine', '');
    const broken = join(folder.path, 'broken.yaml');
    writeFileSync(broken, 'openapi: 3.0.4\ninfo: [\n');
    const cases: [string[], RegExp][] = [
      [['/nowhere/api.yaml'], /^Cannot open "\/nowhere\/api\.yaml": /],
      [[broken], /broken\.yaml:3:1: Cannot read ".*broken\.yaml": /],
      [[mine, mine], /^Cannot serve contract "mine" .*the same info\.title/],
    ];
    for (const [files, message] of cases) {
      const flags = files.flatMap((file) => ['--contract', file]);
      const { code, out, err } = await runChild(['serve', '--port', '0', ...flags], data(folder));
      assert.deepEqual([code, out], [1, ''], err);
      assert.match(err, message);
      assert.doesNotMatch(err, /^\s+at /m);
    }
    assert.ok(!existsSync(join(folder.path, 'data')));
    await using child = await serve(data(folder), ['--contract', mine]);
    assert.match(child.key ?? '', /^rbk_/, 'the first successful start shows the key');
  });
});
