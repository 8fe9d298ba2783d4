// Text that means harm, in everything that comes from outside: no script runs, nothing lies badly, the
// content security policy has nothing to refuse, and the page still answers.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { get, inState, onlyDelivery, publish } from '../e2e/stage.ts';
import type { Page as ListPage } from '../e2e/stage.ts';
import { layoutFaults } from './layout-faults.ts';
import { openStage, type Stage } from './stage.ts';
import { settled } from './views.ts';
import { windows } from './window-sizes.ts';

const script = '<script>window.canary=1</script><img src=x onerror="window.canary=1">';
const handler = '"><svg onload=window.canary=1><a href="javascript:window.canary=1">x</a>';
const turned = '\u202eevil\u202c\u2066\u200b\u200d\ufeff\u00ad';
const zalgo = `Z${'\u0300\u0301\u0334\u0489\u035c'.repeat(40)}algo`;
const word = 'W'.repeat(10_000);
const nasty = `${script}${handler}${turned}${zalgo}\u0000`;
const longEvent = `x${'y'.repeat(60)}.${'z'.repeat(60)}`;
const mega = 'M'.repeat(1_000_000);
const deep = `${'['.repeat(60)}1${']'.repeat(60)}`;

/** Raw, because a lone surrogate and a null byte must arrive as they are written. */
const payloads = {
  'text.nasty': `{"message":${JSON.stringify(nasty)},${JSON.stringify(nasty)}:${JSON.stringify(word)}}`,
  'text.surrogate': String.raw`{"message":"\ud800 \udc00 \u0000 \u2028"}`,
  'text.deep': `{"message":"deep","deep":${deep}}`,
  'text.mega': `{"message":"${mega}"}`,
  [longEvent]: '{"message":"long"}',
};

describe('hostile text', () => {
  let on: Stage;
  let folder = '';
  let subscriberId = '';
  let keyId = '';
  const deliveries: { id: string; eventId: string }[] = [];

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ringback-hostile-'));
    const contract = join(folder, 'hostile.json');
    await writeFile(contract, JSON.stringify(hostileContract()));
    on = await openStage({
      env: {
        RINGBACK_RETRY: '1s',
        RINGBACK_CONTRACT: contract,
      },
    });
    const { service, receiver } = on;
    const query = new URLSearchParams({ q: script, r: handler, w: word.slice(0, 1_500) });
    const url = `${receiver.url}/${encodeURI(turned)}?${query.toString()}`;
    const subscribed = await service.call({ method: 'POST', path: '/evil', body: { url } });
    assert.equal(subscribed.status, 201, subscribed.text);
    const list = await get<ListPage<{ id: string }>>(service, '/subscriptions');
    subscriberId = list.items[0]?.id ?? '';
    const name = `${script}${turned}${zalgo}`.slice(0, 60);
    const key = await service.call({
      method: 'POST',
      path: '/keys',
      body: { name, scopes: ['read'] },
    });
    keyId = String(key.json['id']);
    receiver.script = ({ headers }) => ({
      status: headers['content-length'] === '18' ? 200 : 404,
      headers: { 'content-type': 'text/html', 'x-why': script, 'x-long': word.slice(0, 4_000) },
      body: `${nasty}${word}`,
    });
    for (const [event, payload] of Object.entries(payloads)) {
      const { eventId } = await publish(service, event, { payload });
      const id = await onlyDelivery(service, { eventId });
      await inState(service, id, event === longEvent ? 'delivered' : 'dead');
      deliveries.push({ id, eventId });
    }
    const filter = { state: 'dead', event: 'text.*' };
    await service.call({ method: 'POST', path: '/replays', body: { filter, ratePerSecond: 1 } });
    // Last, since what does not fit its filter would not be delivered.
    await chooseHostile(on, subscriberId);
  });
  after(async () => {
    await on[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });

  const places = (): string[] => [
    '/console',
    '/console/deliveries',
    ...deliveries.flatMap(({ id, eventId }) => [
      `/console/deliveries?delivery=${id}&tab=request`,
      `/console/deliveries?delivery=${id}&tab=response`,
      `/console/events?eventId=${eventId}`,
    ]),
    '/console/subscriptions',
    `/console/subscriptions?subscription=${subscriberId}`,
    '/console/events',
    `/console/events?publish=1&name=${encodeURIComponent(nasty)}`,
    '/console/replays',
    '/console/keys',
    `/console/keys?key=${keyId}`,
    '/console/contract',
    `/console/contract?contract=${encodeURIComponent(title)}`,
  ];
  /** Links that a user could be lured to. */
  const links = (): string[] =>
    [nasty, turned, word.slice(0, 1_500), 'javascript:window.canary=1'].flatMap((text) => {
      const value = encodeURIComponent(text);
      return [
        `/console/deliveries?state=${value}&event=${value}&status=${value}&from=${value}`,
        `/console/subscriptions?url=${value}&event=${value}`,
        `/console/replays?new=1&event=${value}&subscriberId=${value}`,
      ];
    });

  it('stays text on every page, wide and narrow', async () => {
    await on.visit(async (page) => {
      const guard = await watchCanary(page);
      for (const path of places()) {
        await page.goto(path);
        await page.getByRole('heading', { level: 1 }).waitFor();
        for (const { options } of windows) {
          if (options.viewport) await page.setViewportSize(options.viewport);
          await settled(page);
          assert.deepEqual(await layoutFaults(page), [], path.slice(0, 200));
        }
        await guard.check(path);
      }
      await answers(page);
    });
  });

  it('stays text in the settings and in the form that changes them', async () => {
    await on.visit(async (page) => {
      const guard = await watchCanary(page);
      await page.goto(`/console/subscriptions?subscription=${subscriberId}`);
      await page.getByRole('region', { name: 'Settings' }).getByText('X-WWW').waitFor();
      await page.getByRole('button', { name: 'Change settings' }).click();
      await page.getByText('Remove all headers').waitFor();
      for (const { options, narrowest } of windows) {
        const height = options.viewport?.height ?? 0;
        await page.setViewportSize({ width: narrowest, height });
        await settled(page);
        assert.deepEqual(await layoutFaults(page), [], `${narrowest} px`);
      }
      await guard.check('the form');
    });
  });

  it('stays text in an address', async () => {
    await on.visit(async (page, faults) => {
      faults.expect(/console: Failed to load resource.* 400 /);
      const guard = await watchCanary(page);
      for (const path of links()) {
        await page.goto(path);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await settled(page);
        assert.deepEqual(await layoutFaults(page), [], path.slice(0, 200));
        await guard.check(path);
      }
      await answers(page);
    });
  });
});

/** Headers take nothing but letters, and still may be long. */
async function chooseHostile({ service }: Stage, id: string): Promise<void> {
  const plain = nasty.replaceAll('\u0000', '');
  const short = `${script.slice(0, 40)}${turned}`;
  const body = {
    description: Array.from(plain).slice(0, 512).join(''),
    metadata: { [short]: Array.from(plain).slice(0, 512).join(''), long: word.slice(0, 512) },
    filter: { [`/${script}${turned}`]: [nasty, word.slice(0, 2_000)], '': 'x' },
    headers: { [`X-${'W'.repeat(120)}`]: 'x', "X-'|`!#$%&": 'x' },
    callbacks: [{ position: 0, events: ['*', longEvent, `${longEvent}.*`] }],
  };
  const answer = await service.call({ method: 'PATCH', path: `/subscriptions/${id}`, body });
  assert.equal(answer.status, 200, answer.text);
}

const title = `Evil ${script} ${turned}`;

function hostileContract(): object {
  const schema = {
    type: 'object',
    description: nasty,
    properties: { url: { type: 'string', description: nasty } },
  };
  const content = { 'application/json': { schema } };
  return {
    openapi: '3.0.3',
    info: { title, version: `${script}1` },
    paths: {
      '/evil': {
        post: {
          operationId: `op${script}`,
          summary: nasty,
          requestBody: { content },
          responses: { '201': { description: nasty } },
          callbacks: {
            [`call${script}${turned}`]: {
              '{$request.body#/url}': {
                'x-ringback-event': '*',
                post: {
                  summary: nasty,
                  requestBody: { content },
                  responses: { '200': { description: nasty } },
                },
              },
            },
          },
        },
      },
    },
  };
}

/** Fails if any script of the text ran, or opened a dialog of the browser. */
async function watchCanary(page: Page): Promise<{ check: (where: string) => Promise<void> }> {
  const opened: string[] = [];
  page.on('dialog', (dialog) => {
    opened.push(dialog.message());
    void dialog.dismiss();
  });
  return {
    check: async (where) => {
      const isDead = await page.evaluate(() => 'canary' in globalThis);
      assert.equal(isDead, false, `a script ran at ${where}`);
      assert.deepEqual(opened, [], where);
      const made = await page
        .locator('main')
        .locator('script, img, iframe, a[href^="javascript:"]')
        .count();
      assert.equal(made, 0, `text became markup at ${where}`);
    },
  };
}

/** A click still works. */
async function answers(page: Page): Promise<void> {
  await page.goto('/console/deliveries');
  await page.getByRole('link', { name: 'text.deep' }).first().click();
  const drawer = page.getByRole('dialog');
  await drawer.getByRole('button', { name: 'Close' }).click();
  await drawer.waitFor({ state: 'detached' });
}
