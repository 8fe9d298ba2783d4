// RINGBACK_MANAGE_PREFIX moves everything that openapi.yaml describes below a path, so that no contract can
// collide with it. The probes also stay at their usual paths.
import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { readConfig } from '../../src/config.ts';
import { createClient } from '../../src/client/client.ts';
import { runHere } from '../cli/in-process.ts';
import { documentOf, equip, serve, writeFiles } from '../e2e/contracts/stage.ts';
import { receive } from '../e2e/receiver.ts';
import { start, type Started } from './harness.ts';

const prefix = '/manage/ringback';
const env = { RINGBACK_MANAGE_PREFIX: prefix };

/** Its paths are those of the management API. */
const colliding = documentOf(`
/subscriptions:
  post:
    requestBody:
      content: { application/json: { schema: { properties: { url: { type: string } } } } }
    responses: { '201': { description: made } }
    callbacks: { made: { '{$request.body#/url}': { post: {} } } }
/subscriptions/{id}:
  delete:
    parameters: [{ name: id, in: path, required: true, schema: { type: string } }]
    responses: { '204': { description: gone } }
`);

describe('RINGBACK_MANAGE_PREFIX', () => {
  let service: Started;
  before(async () => {
    service = await start({ env });
  });
  after(async () => service[Symbol.asyncDispose]());

  it('moves every operation, and serves the probes at both places', async () => {
    const { json } = await service.call({ path: `${prefix}/openapi.json` });
    assert.deepEqual(json['servers'], [{ url: prefix }]);
    const paths = Object.keys(json['paths'] as object).filter((path) => !path.includes('{'));
    for (const path of paths) {
      const moved = await service.call({ method: 'OPTIONS', path: prefix + path });
      assert.equal(moved.status, 405, path);
      const isProbe = path === '/healthz' || path === '/readyz';
      const old = await service.call({ method: 'OPTIONS', path });
      assert.equal(old.status, isProbe ? 405 : 404, path);
    }
    for (const path of ['/healthz', '/readyz']) {
      assert.equal((await service.call({ path, key: null })).status, 200);
      assert.equal((await service.call({ path: prefix + path, key: null })).status, 200);
    }
  });

  it('serves a console whose scripts and sign-in link are below the prefix', async () => {
    const link = new URL((await service.signInLink()) ?? '');
    assert.equal(link.pathname, `${prefix}/console`);
    const page = await service.call({ path: link.pathname, key: null });
    if (page.status === 503) return; // The console is not built.
    const scripts = [...page.text.matchAll(/(?:src|href)="([^"]+)"/gu)].map(
      ([, path = '']) => path,
    );
    assert.ok(scripts.length > 1);
    for (const path of scripts) {
      assert.ok(path.startsWith(`${prefix}/console/assets/`), path);
      assert.equal((await service.call({ path, key: null })).status, 200);
    }
  });

  it('serves a reference whose links and paths are below the prefix', async () => {
    const page = await service.call({ path: `${prefix}/docs`, key: null });
    assert.equal(page.status, 200);
    assert.ok(page.text.includes(`<code>POST ${prefix}/subscribe</code>`));
    const links = [...page.text.matchAll(/href="([^"#?][^"]*)"/gu)].map(([, href = '']) => href);
    const own = links.filter((href) => !/^https?:/u.test(href));
    assert.deepEqual(new Set(own), new Set(['openapi.json', 'openapi.yaml']));
  });

  it('is part of the URL for the client library and the command line', async () => {
    await using receiver = await receive();
    const url = service.url + prefix;
    const client = createClient({ url, key: service.key });
    const { subscriberId } = await client.subscribe({ callbackUrl: receiver.url });
    const { deliveries } = await client.publish({
      event: 'paid',
      payload: { message: 'hello' },
    });
    assert.equal(deliveries, 1);
    await receiver.waitFor(1);
    const listed = await runHere(['subscriptions', '--json'], {
      env: { RINGBACK_URL: url, RINGBACK_API_KEY: service.key },
    });
    assert.equal(listed.code, 0, listed.err);
    assert.ok(listed.out.includes(subscriberId));
    const replay = await service.call({
      method: 'POST',
      path: `${prefix}/replays`,
      body: { filter: { subscriberId, from: '2020-01-01T00:00:00Z' } },
    });
    assert.equal(replay.status, 201, replay.text);
    const location = replay.headers.get('location') ?? '';
    assert.equal((await service.call({ path: location })).status, 200);
  });

  it('lets a contract use the paths of the management API', async () => {
    await using own = equip(await serve(colliding, { env }));
    await using receiver = await receive();
    const made = await own.call({
      method: 'POST',
      path: '/subscriptions',
      body: { url: receiver.url },
    });
    assert.equal(made.status, 201, made.text);
    const event = { event: 'made', payload: {} };
    const sent = await own.call({ method: 'POST', path: `${prefix}/events`, body: event });
    assert.equal(sent.json['deliveries'], 1, sent.text);
    await receiver.waitFor(1);
    const location = made.headers.get('location') ?? '';
    assert.match(location, /^\/subscriptions\/sub_/u);
    assert.equal((await own.call({ method: 'DELETE', path: location })).status, 204);
    const { json } = await own.call({ path: `${prefix}${location}` });
    assert.equal(json['state'], 'ended');
  });

  it('is suggested by a start and by a check if a contract collides', async () => {
    const advice = /collides with .* of "Ringback"; start with --manage-prefix \/manage/;
    await assert.rejects(serve(colliding), advice);
    const folder = await writeFiles({ 'api.yaml': colliding });
    try {
      const file = join(folder, 'api.yaml');
      const refused = await runHere(['check', file]);
      assert.equal(refused.code, 1);
      assert.match(refused.out.replaceAll(/\s+/gu, ' '), advice);
      assert.equal((await runHere(['check', file, '--manage-prefix', '/manage'])).code, 0);
      const wrong = await runHere(['check', file, '--manage-prefix', 'manage/']);
      assert.deepEqual([wrong.code, /expected a path such as \/manage/.test(wrong.err)], [2, true]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('is suggested with another value if a contract collides below it', async () => {
    const below = colliding.replace('/subscriptions:\n', '/manage/events:\n');
    await assert.rejects(
      serve(below, { env: { RINGBACK_MANAGE_PREFIX: '/manage' } }),
      /collides with POST \/manage\/events .*; start with --manage-prefix \/ringback /,
    );
    await using moved = equip(await serve(below, { env: { RINGBACK_MANAGE_PREFIX: '/ringback' } }));
    const body = { url: 'http://127.0.0.1:9000/' };
    const made = await moved.call({ method: 'POST', path: '/manage/events', body });
    assert.equal(made.status, 201, made.text);
  });

  it('reserves the paths of the probes', async () => {
    const probe = colliding.replace('/subscriptions:\n', '/readyz:\n').replace('post:', 'get:');
    await assert.rejects(
      serve(probe, { env }),
      /collides with GET \/readyz .*; give the document a/,
    );
  });

  for (const text of ['manage', '/', '/a/', '/a//b', '/../x', '/a b', '/{x}', '/.x']) {
    it(`is refused as "${text}"`, () => {
      const reading = readConfig({ RINGBACK_MANAGE_PREFIX: text });
      assert.ok(reading.kind === 'mistakes');
      assert.match(reading.mistakes.join(), /RINGBACK_MANAGE_PREFIX .*expected a path such as/);
    });
  }
});
