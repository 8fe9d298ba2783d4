// `ringback check` and the start of a service agree on every document: they refuse the same documents with the
// same message, and name the same operations that cannot run.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { describe, it } from 'node:test';
import { ContractError } from '../../src/contract/document/document.ts';
import { explainError } from '../../src/contract/document/locate.ts';
import { start } from '../api/harness.ts';
import { corpus, corpusFiles, noCorpus } from '../contract/corpus/run-corpus.ts';
import { documentOf, writeFiles } from '../e2e/contracts/stage.ts';
import { runHere } from './in-process.ts';

interface Outcome {
  /** Why a service does not start; undefined if it does. */
  refusal: string | undefined;
  /** The reasons of operations that cannot run. */
  cannotRun: readonly string[];
}

async function checked(files: readonly string[], env: Env): Promise<Outcome & { code: number }> {
  const { code, out } = await runHere(['check', ...files, '--json'], { env });
  const reports = JSON.parse(out) as { error?: { message: string }; cannotRun?: string[] }[];
  return {
    code,
    refusal: reports.find(({ error }) => error !== undefined)?.error?.message,
    cannotRun: reports.flatMap(({ cannotRun = [] }) => cannotRun),
  };
}

type Env = Readonly<Record<string, string>>;

async function started(files: readonly string[], env: Env): Promise<Outcome> {
  try {
    await using service = await start({ env: { ...env, RINGBACK_CONTRACT: files.join(',') } });
    const lines = service
      .logged()
      .split('\n')
      .filter((line) => line !== '');
    const facts = lines.map((line) => JSON.parse(line) as { msg: string; reason: string });
    const warned = facts.filter(({ msg }) => msg === 'operation cannot run');
    return { refusal: undefined, cannotRun: warned.map(({ reason }) => reason) };
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    return { refusal: explainError(error), cannotRun: [] };
  }
}

/** The common verdict of both. */
async function verdict(files: readonly string[], env: Env = {}): Promise<Outcome> {
  const { code, ...said } = await checked(files, env);
  const real = await started(files, env);
  assert.equal(said.refusal, real.refusal);
  if (real.refusal === undefined) assert.deepEqual(said.cannotRun, real.cannotRun);
  assert.equal(code, real.refusal === undefined && real.cannotRun.length === 0 ? 0 : 1);
  return real;
}

async function verdictOn(
  documents: Readonly<Record<string, string>>,
  env: Env = {},
): Promise<Outcome> {
  const folder = await writeFiles(documents);
  try {
    return await verdict(
      Object.keys(documents).map((name) => join(folder, name)),
      env,
    );
  } finally {
    await rm(folder, { recursive: true });
  }
}

const post = `{ post: { callbacks: { a: { '{$request.query.u}': { post: {} } } }, parameters: [{ name: u, in: query }] } }`;

function hook(key: string, body = 'type: object, properties: { url: { type: string } }'): string {
  return documentOf(`
/hooks:
  post:
    requestBody: { content: { application/json: { schema: { ${body} } } } }
    responses:
      '201':
        description: made
        content:
          application/json:
            schema: { type: object, properties: { url: { type: string }, self: { type: string } } }
    callbacks: { made: { '${key}': { post: {} } } }
`);
}

const colliding = documentOf(`
/subscriptions/{id}:
  post:
    parameters: [{ name: url, in: query, schema: { type: string } }, { name: id, in: path }]
    responses: {}
    callbacks: { made: { '{$request.query.url}': { post: {} } } }
  delete:
    x-ringback: unsubscribe
    parameters: [{ name: id, in: path, required: true, schema: { type: string } }]
    responses: { '204': { description: gone } }
`);

describe('ringback check and the start of a service', () => {
  it('accept a document that can run', async () => {
    const ok = { refusal: undefined, cannotRun: [] };
    assert.deepEqual(await verdictOn({ 'a.yaml': hook('{$request.body#/url}') }), ok);
    assert.deepEqual(await verdictOn({ 'a.yaml': hook('{$response.body#/url}') }), ok);
    const free = hook('{$request.body#/url}', 'type: object');
    assert.deepEqual(await verdictOn({ 'a.yaml': free }), ok);
    const form = hook('{$request.body#/url}').replace('application/json', 'multipart/form-data');
    assert.deepEqual(await verdictOn({ 'a.yaml': form }), ok);
  });

  const never: readonly [string, RegExp][] = [
    ['{$url}', /"\$url" is known only to the server/],
    ['{$response.header.Location}', /header\.location" is known only to the server/],
    ['{$response.body#/self}', /"\$response\.body#\/self" is known only to the server/],
    ['{$request.body#/callbackUrl}', /declares no property "callbackUrl"/],
    ['{$request.body#/url/inner}', /declares no property "inner"/],
    ['{$request.body}', /has type object at "\/", expected a URL/],
    ['{$request.query.url}', /has no query parameter "url"/],
    ['https://$request.query.url/x', /the host is "\$request\.query\.url"/],
  ];
  for (const [key, reason] of never) {
    it(`name an operation whose only callback has the key ${key}`, async () => {
      const { refusal, cannotRun } = await verdictOn({ 'a.yaml': hook(key) });
      assert.equal(refusal, undefined);
      assert.equal(cannotRun.length, 1);
      assert.match(cannotRun[0] ?? '', reason);
    });
  }

  const refused: Readonly<Record<string, readonly [string, RegExp]>> = {
    'a path of the management API': [colliding, /DELETE \/subscriptions\/\{id\} .* collides with/],
    AsyncAPI: ['asyncapi: 3.0.0\nchannels: { a: {} }\n', /it is an AsyncAPI document/],
    'an Overlay': [
      'overlay: 1.0.0\ninfo: { title: x }\nactions: []\n',
      /it is an Overlay .*--overlay/,
    ],
    Arazzo: ['arazzo: 1.0.1\ninfo: { title: x }\n', /it is an Arazzo document/],
  };
  for (const [what, [document, reason]] of Object.entries(refused)) {
    it(`refuse ${what}`, async () => {
      assert.match((await verdictOn({ 'a.yaml': document })).refusal ?? '', reason);
    });
  }

  const odd: readonly string[] = [
    'servers: [{ url: "urn:example:api" }]',
    'servers: [{ url: "../v1" }]',
    'servers: [{ url: "https://{host}:{port}/v1" }]',
    'servers: [{ url: "/a*b/(c)/:d/%7Be%7D/é" }]',
    'servers: nothing',
    'servers: [nothing, { url: 3 }]',
  ];
  for (const servers of odd) {
    it(`agree on ${servers}`, async () => {
      const document = hook('{$request.body#/url}').replace('paths:', `${servers}\npaths:`);
      await verdictOn({ 'a.yaml': document });
    });
  }

  for (const path of [
    '/a*b',
    '/*',
    '/{id}(x)',
    '/{a}{b}',
    '/{a}-{b}',
    '/a//b',
    '/{a',
    '/a b',
    '/a?b=c',
    '/a#b',
    '/%zz',
  ]) {
    it(`agree on the path ${path}`, async () => {
      const document = hook('{$request.body#/url}').replace('/hooks:', `'${path}':`);
      await verdictOn({ 'a.yaml': document });
    });
  }

  it('let an API have the paths of Ringback, of another document and with "*"', async () => {
    const env = { RINGBACK_OPERATIONS: 'register' };
    const things = documentOf(`/events: ${post}\n/x*: ${post}\n/a/{b}: ${post}\n/a/{c}: ${post}`);
    const others = documentOf(`/events: ${post}`).replace('Things', 'Others');
    const documents = { 'a.yaml': things, 'b.yaml': others };
    const { refusal } = await verdictOn(documents, env);
    assert.equal(refusal, undefined);
    assert.notEqual((await verdictOn(documents)).refusal, undefined);
    const same = { 'a.yaml': things, 'b.yaml': things };
    assert.match((await verdictOn(same, env)).refusal ?? '', /has the same info\.title/);
  });

  it('refuse a second document with the paths or the title of the first', async () => {
    const first = hook('{$request.body#/url}');
    const second = first.replace('Things', 'Others');
    const paths = await verdictOn({ 'a.yaml': first, 'b.yaml': second });
    assert.match(paths.refusal ?? '', /POST \/hooks .* of "Things"/);
    const titles = await verdictOn({ 'a.yaml': first, 'b.yaml': first });
    assert.match(titles.refusal ?? '', /another contract has the same info\.title/);
  });
});

describe('ringback check and the start of a service, over the corpus', { skip: noCorpus }, () => {
  for (const file of corpusFiles()) {
    // test/contract/corpus serves the documents with references outside their own folder.
    it(relative(corpus, file), async () => {
      const { cannotRun } = await verdict([file]);
      if (!/callbacks/u.test(readFileSync(file, 'utf8'))) assert.deepEqual(cannotRun, []);
    });
  }
});
