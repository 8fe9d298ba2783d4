// The portal of a customer in a real browser: its tasks, each within five clicks, by mouse and by keyboard, on its own
// and in a page of another origin.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { FrameLocator, Locator, Page, Response } from 'playwright-core';
import { inState, subscribe, until } from '../e2e/stage.ts';
import type { Reply } from '../e2e/receiver.ts';
import { axeFindings } from './axe-findings.ts';
import { act, tabTo } from './keyboard.ts';
import { layoutFaults } from './layout-faults.ts';
import { settled } from './views.ts';
import { openStage, type Play, type Stage, type VisitOptions } from './stage.ts';

/** Of everything that the page loads, in any of its pages and one language. */
const scriptBytesMax = 40_000;
const clicksMax = 5;

const schemes = ['light', 'dark'] as const;
const types = ['order.created', 'order.paid', 'order.shipped', 'invoice.paid', 'export'];

describe('the portal', () => {
  let on: Stage;
  let shop: Server;
  let shopUrl: string;
  /** What the page of the shop shows. */
  let shopPage = '';
  before(async () => {
    shop = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html').end(shopPage);
    }).listen(0, '127.0.0.1');
    await once(shop, 'listening');
    const address = shop.address();
    assert(typeof address === 'object' && address !== null);
    shopUrl = `http://localhost:${address.port}`;
    on = await openStage({
      env: {
        RINGBACK_RETRY: '1ms',
        RINGBACK_PORTAL_ORIGINS: shopUrl,
        RINGBACK_PORTAL_NAME: 'Nordwind',
        RINGBACK_PORTAL_ACCENT: '#ffcc00',
      },
    });
    on.receiver.script = ({ url }) => replyAt(url);
    for (const event of types) await declare(event);
  });
  after(async () => {
    await on[Symbol.asyncDispose]();
    shop.close();
  });

  const declare = async (event: string): Promise<void> => {
    const body = {
      description: `About an ${event}, as soon as it happens`,
      schema: { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } },
      example: { id: 42 },
    };
    const { status, text } = await on.service.call({
      method: 'PUT',
      path: `/event-types/${event}`,
      body,
    });
    assert.ok(status < 300, text);
  };

  /** Each test has a customer of its own, so that they share nothing. */
  const linkFor = async (customer: string, more: object = {}): Promise<string> => {
    const body = { customer, language: 'en', ...more };
    const made = await on.service.call({ method: 'POST', path: '/portal-links', body });
    assert.equal(made.status, 201, made.text);
    return String(made.json['url']);
  };

  const visit = async (
    customer: string,
    play: Play,
    { grant = {}, ...options }: VisitOptions & { grant?: object } = {},
  ): Promise<void> => {
    const url = await linkFor(customer, grant);
    await on.visit(
      async (page, faults) => {
        await page.goto(url);
        await heading(page).waitFor();
        await play(page, faults);
      },
      { as: 'guest', ...options },
    );
  };

  const at = (path: string): string => on.receiver.url.replace('/hook', path);

  const addEndpoint = async (customer: string, path: string): Promise<string> => {
    const body = { callbackUrl: at(path), 'x-ringback': { customer } };
    return (await subscribe(on.service, { body })).id;
  };

  const publishTo = async (customer: string, event = 'order.paid'): Promise<string> => {
    const body = { event, customer, subject: 'ord_7', payload: { id: 7 } };
    const { status, json, text } = await on.service.call({ method: 'POST', path: '/events', body });
    assert.equal(status, 202, text);
    return String(json['eventId']);
  };

  it('adds an endpoint, shows why it fails, fixes it and resends, each within 5 clicks', async () => {
    const customer = 'cus_tasks';
    await visit(customer, async (page) => {
      assert.doesNotMatch(page.url(), /ticket/);
      const click = clicker();

      await click(link(page, 'Add endpoint').first());
      await page.getByLabel('Endpoint URL').fill(at('/wrong'));
      await click(button(page, 'Add endpoint'));
      await page.getByText('The endpoint is added').waitFor();
      await page.getByText(/^whsec_/).waitFor();
      assert.ok(click.count() <= clicksMax);

      const eventId = await publishTo(customer);
      const [delivery] = await deliveriesOf(on, eventId);
      await inState(on.service, delivery?.id ?? '', 'dead');

      click.restart();
      await click(link(page, 'Endpoints').first());
      await page.getByText('Failing since').waitFor();
      await click(link(page, 'Why, and what to do'));
      await page.getByText('There is nothing at this URL (404)').waitFor();
      await page.getByText('Check the path of the URL for a typo').waitFor();
      await page.getByText('"no such route"').waitFor();
      assert.ok(click.count() <= clicksMax);

      click.restart();
      await click(link(page, 'Edit'));
      await page.getByLabel('Endpoint URL').fill(at('/right'));
      await click(button(page, 'Save changes'));
      await page.getByRole('heading', { level: 1, name: at('/right') }).waitFor();
      await click(button(page, 'Send test event'));
      await page.getByText(/^Delivered: your endpoint responded with HTTP 200/).waitFor();
      assert.ok(click.count() <= clicksMax);

      click.restart();
      await click(link(page, 'Deliveries').first());
      await click(link(page, 'Resend failed…'));
      await click(button(page, 'Resend 1 delivery'));
      await page.getByText('1 delivery queued again.').waitFor();
      await click(link(page, 'View deliveries'));
      await page.getByRole('row', { name: /order\.paid Delivered/ }).waitFor();
      assert.ok(click.count() <= clicksMax);
      const received = on.receiver.requests.filter(({ url }) => url === '/right');
      assert.ok(received.some(({ headers }) => headers['webhook-id'] === eventId));
    });
  });

  it('is used by keyboard only', async () => {
    await visit('cus_keys', async (page) => {
      await act(page, link(page, 'Add endpoint').first());
      const url = page.getByLabel('Endpoint URL');
      await url.waitFor();
      await tabTo(page, button(page, 'Add endpoint'));
      await page.keyboard.press('Enter');
      await page.getByText('Enter the URL of your endpoint').waitFor();
      assert.ok(await url.evaluate((one) => one === document.activeElement));
      await page.keyboard.type(at('/typed'));
      await tabTo(page, page.getByLabel(/^All events/));
      await page.keyboard.press('ArrowDown');
      await tabTo(page, page.getByLabel('All order.* events'));
      await page.keyboard.press('Space');
      await act(page, page.getByLabel('Schema and example of export'));
      await page.getByText('integer').first().waitFor();
      await act(page, button(page, 'Add endpoint'));
      await page.getByRole('heading', { level: 1, name: at('/typed') }).waitFor();
      await page.getByText('order.*', { exact: true }).waitFor();
      await tabTo(page, page.getByRole('tab', { name: 'Node.js' }));
      await page.keyboard.press('ArrowRight');
      await page.getByText('hmac.compare_digest').waitFor();
      await act(page, button(page, 'Rotate secret'));
      const dialog = page.getByRole('dialog', { name: 'Rotate the signing secret?' });
      await act(page, dialog.getByRole('button', { name: 'Rotate secret' }));
      await page.getByText('The old one is also used for signing until').waitFor();
      await act(page, button(page, 'Send test event'));
      await page.getByText(/^Delivered: /).waitFor();
      await act(page, link(page, 'View delivery'));
      await page.getByRole('heading', { level: 1, name: 'ringback.ping' }).waitFor();
      await act(page, button(page, 'Resend'));
      await page.getByText('The delivery is queued again.').waitFor();
      await act(page, link(page, 'Endpoints').first());
      await act(page, link(page, at('/typed')));
      await act(page, button(page, 'Remove'));
      const asked = page.getByRole('dialog', { name: 'Remove this endpoint?' });
      await act(page, asked.getByRole('button', { name: 'Remove' }));
      await page.getByText('No endpoints yet').waitFor();
    });
  });

  it('has no faults in any page, width, theme and language, and loads at most 40 kB of scripts', async () => {
    const customer = 'cus_pages';
    const good = await addEndpoint(customer, '/fine');
    const bad = await addEndpoint(customer, `/wrong/${'long/'.repeat(20)}`);
    const sent = await deliveriesOf(on, await publishTo(customer), 2);
    const failed = sent.find(({ subscriberId }) => subscriberId === bad)?.id ?? '';
    await inState(on.service, failed, 'dead');
    const views = [
      ['endpoints', 2],
      [`endpoints/${good}`, 2],
      [`endpoints/${bad}`, 2],
      [`endpoints/${good}/edit`, 1],
      ['endpoints/new', 1],
      ['deliveries', 2],
      [`deliveries/${failed}`, 2],
      [`resend?endpoint=${bad}`, 1],
      ['events', 1],
      ['history', 1],
      ['verify', 1],
    ] as const;
    const playIn =
      (language: string): Play =>
      async (page) => {
        const scripts: Response[] = [];
        page.on('response', (response) => {
          if (response.url().endsWith('.js')) scripts.push(response);
        });
        await page.reload();
        for (const [path, axeRuns] of views) {
          await page.goto(`/portal#/${path}`);
          await settled(page);
          if (path === 'endpoints/new') await page.getByLabel(/^(?:Selected|Ausgewählte)/).check();
          if (path === 'events') await page.locator('summary').first().click();
          for (const width of [1440, 768, 390]) {
            await page.setViewportSize({ width, height: 900 });
            await settled(page);
            assert.deepEqual(await layoutFaults(page), [], `${path}, ${width} px`);
          }
          for (const colorScheme of schemes.slice(-axeRuns)) {
            // Its findings do not depend on the language.
            if (language !== 'en') break;
            await page.emulateMedia({ colorScheme });
            await settled(page);
            assert.deepEqual(await axeFindings(page), [], `${path}, ${colorScheme}`);
          }
        }
        assert.ok(scripts.length >= 2, 'the page and its strings');
        const bodies = await Promise.all(scripts.map(async (response) => response.body()));
        const total = bodies.reduce((sum, body) => sum + gzipSync(body, { level: 9 }).length, 0);
        assert.ok(total <= scriptBytesMax, `${total} bytes of scripts, at most ${scriptBytesMax}`);
      };
    for (const language of ['de', 'en']) {
      await visit(customer, playIn(language), { grant: { language }, reducedMotion: 'reduce' });
    }
  });

  it('is embedded in a page of another origin, as high as its content', async () => {
    const customer = 'cus_shop';
    await addEndpoint(customer, '/wrong');
    await inState(
      on.service,
      (await deliveriesOf(on, await publishTo(customer)))[0]?.id ?? '',
      'dead',
    );
    const embed = `<div data-ringback-portal="${await linkFor(customer)}"></div>
      <script src="${on.service.url}/portal/embed.js"></script>`;
    shopPage = `<!doctype html><title>Shop</title><h1>Shop</h1>${embed}`;
    await on.visit(
      async (page, faults) => {
        faults.expect(/request to another host: http:\/\/localhost:/);
        await page.goto(shopUrl);
        const frame = page.frameLocator('iframe');
        await link(frame, 'Why, and what to do').click();
        await frame.getByRole('heading', { name: 'Recent deliveries' }).waitFor();
        await isAsHighAsContent(page);
        assert.equal(await frame.getByText('Nordwind').count(), 0, 'the shop shows its own name');

        // The frame is higher than the window; the dialog is in sight.
        const rotate = button(frame, 'Rotate secret');
        await rotate.click();
        const dialog = frame.getByRole('dialog');
        const height = page.viewportSize()?.height ?? 0;
        await until(
          async () => dialog.boundingBox(),
          (box) => box !== null && box.y >= 0 && box.y + box.height <= height,
        );
        await dialog.getByRole('button', { name: 'Rotate secret' }).click();
        await frame.getByText('The old one is also used for signing until').waitFor();

        await link(frame, 'All deliveries').click();
        await frame.getByRole('heading', { level: 1, name: 'Deliveries' }).waitFor();
        await page.evaluate(() => history.back());
        await frame.getByRole('heading', { level: 1, name: at('/wrong') }).waitFor();
        assert.deepEqual(await page.context().cookies(), []);
        // The link is used, but this tab has its session.
        await page.reload();
        await link(frame, 'Why, and what to do').waitFor();
      },
      { as: 'guest', viewport: { width: 1000, height: 700 } },
    );
  });

  it('is not embedded by a page that the service does not name', async () => {
    shopPage = `<!doctype html><title>Other</title><iframe src="${await linkFor('cus_other')}"></iframe>`;
    await on.visit(
      async (page, faults) => {
        faults.expect(/request to another host: http:\/\/127\.0\.0\.1:/);
        faults.expect(/frame-ancestors/);
        faults.expect(/request failed: .*\/portal: net::ERR_BLOCKED_BY_RESPONSE/);
        const refused = page.waitForEvent('console', (one) => /frame-ancestors/.test(one.text()));
        await page.goto(shopUrl.replace('localhost', '127.0.0.1'));
        await refused;
        assert.equal(
          await page.frameLocator('iframe').getByRole('heading', { level: 1 }).count(),
          0,
        );
      },
      { as: 'guest' },
    );
  });

  it('asks to open it again if the link was used, or the session has ended', async () => {
    const url = await linkFor('cus_ended');
    const play: Play = async (page, faults) => {
      faults.expect(/Failed to load resource.* 401 .*\/portal\/session\)$/);
      await page.goto(url);
      await page.getByRole('heading', { name: 'This link is no longer valid' }).waitFor();
      await page.getByText('Go back to the product').waitFor();
    };
    await on.visit(
      async (page, faults) => {
        await page.goto(url);
        await page.getByRole('heading', { level: 1, name: 'Endpoints' }).waitFor();
        faults.expect(/Failed to load resource.* 401 /);
        const kept = await page.evaluate(() => sessionStorage.getItem('ringback.portal'));
        const { token } = JSON.parse(kept ?? '{}') as { token: string };
        const headers = { 'x-portal-session': token };
        const ended = { method: 'DELETE', path: '/portal/session', key: null, headers };
        assert.equal((await on.service.call(ended)).status, 204);
        await page.goto('/portal#/deliveries');
        await page.getByRole('heading', { name: 'Your session has ended' }).waitFor();
        assert.deepEqual(await axeFindings(page), []);
      },
      { as: 'guest' },
    );
    await on.visit(play, { as: 'guest' });
    await on.visit(
      async (page) => {
        await page.goto('/portal');
        await page
          .getByRole('heading', { name: 'Öffnen Sie diese Seite aus Ihrem Konto' })
          .waitFor();
      },
      { as: 'guest', locale: 'de-AT' },
    );
  });

  it('shows only the buttons that the session allows', async () => {
    const customer = 'cus_viewer';
    const id = await addEndpoint(customer, '/wrong');
    const [delivery] = await deliveriesOf(on, await publishTo(customer));
    await inState(on.service, delivery?.id ?? '', 'dead');
    const names = /Add|Edit|Pause|Remove|Send test|Reveal|Rotate|Resend/;
    await visit(
      customer,
      async (page) => {
        for (const path of [
          'endpoints',
          `endpoints/${id}`,
          'deliveries',
          `deliveries/${delivery?.id}`,
        ]) {
          await page.goto(`/portal#/${path}`);
          await settled(page);
          const offered = page.locator('main :is(a, button)').filter({ hasText: names });
          assert.deepEqual(await offered.allTextContents(), [], path);
        }
        for (const path of ['endpoints/new', `endpoints/${id}/edit`, 'resend']) {
          await page.goto(`/portal#/${path}`);
          await page.getByRole('heading', { name: 'Page not found' }).waitFor();
        }
      },
      { grant: { can: ['view'] } },
    );
  });

  it('lists what was changed, newest first, and nothing of another customer', async () => {
    const customer = 'cus_history';
    const id = await addEndpoint(customer, '/mine');
    const foreign = await addEndpoint('cus_foreign', '/foreign');
    // Together with the other entries, more than a page.
    const shown = 50;
    for (const one of [...Array.from({ length: shown }, () => id), foreign]) {
      const { status, text } = await on.service.call({ path: `/subscriptions/${one}/secret` });
      assert.equal(status, 200, text);
    }
    await visit(customer, async (page) => {
      await link(page, at('/mine')).click();
      await button(page, 'Pause').click();
      await button(page, 'Resume').waitFor();
      await link(page, 'History').click();
      const rows = page.locator('tbody tr');
      await rows.first().getByText('Endpoint paused').waitFor();
      await rows.first().getByText('Portal', { exact: true }).waitFor();
      await button(page, 'Load more').click();
      // Also: the endpoint is added and paused, the link is created, the portal is opened.
      await page.getByText(`${shown + 4} entries in total`).waitFor();
      await rows.last().getByText('Endpoint added').waitFor();
      await rows.last().getByText('API key', { exact: true }).waitFor();
      assert.equal(await page.getByText(at('/foreign')).or(page.getByText(foreign)).count(), 0);
      await rows.last().getByRole('link').click();
      await page.getByRole('heading', { level: 1, name: at('/mine') }).waitFor();
    });
  });

  it('finds deliveries by subject, event and ID', async () => {
    const customer = 'cus_search';
    await addEndpoint(customer, '/fine');
    const [delivery] = await deliveriesOf(on, await publishTo(customer));
    await publishTo(customer, 'invoice.paid');
    await visit(customer, async (page) => {
      await page.goto('/portal#/deliveries');
      const search = page.getByRole('search').getByRole('textbox');
      const find = async (text: string): Promise<void> => {
        await search.fill(text);
        await page.keyboard.press('Enter');
      };
      await find('invoice.paid');
      await page.getByText('1 delivery in total').waitFor();
      await find('ord_7');
      await page.getByText('2 deliveries in total').waitFor();
      await find('ord_8');
      await page.getByText('No deliveries match').waitFor();
      await find(delivery?.id ?? '');
      await page.getByRole('heading', { level: 1, name: 'order.paid' }).waitFor();
      await page.getByRole('tab', { name: 'Request' }).click();
      await page.getByText('webhook-timestamp').waitFor();
      await page.getByLabel('request body').getByText('"id"').waitFor();
    });
  });
});

function replyAt(url: string): Reply {
  if (!url.startsWith('/wrong')) return 200;
  return {
    status: 404,
    headers: { 'content-type': 'application/json' },
    body: '{"error":"no such route"}',
  };
}

type Found = { id: string; subscriberId: string };

/** The deliveries of an event, once there are as many. */
async function deliveriesOf({ service }: Stage, eventId: string, count = 1): Promise<Found[]> {
  const { json } = await service.call({ path: `/deliveries?eventId=${eventId}` });
  const items = json['items'] as Found[];
  assert.equal(items.length, count);
  return items;
}

function heading(page: Page): Locator {
  return page.getByRole('heading', { level: 1 });
}

function link(page: Page | FrameLocator, name: string): Locator {
  return page.getByRole('link', { name });
}

function button(page: Page | FrameLocator, name: string): Locator {
  return page.getByRole('button', { name });
}

/** The content is higher than the window around the frame, and does not scroll inside the frame. */
async function isAsHighAsContent(page: Page): Promise<void> {
  const height = page.viewportSize()?.height ?? 0;
  const inside = page.frames().at(-1);
  await inside?.waitForFunction((least) => {
    const content = Math.ceil(document.body.getBoundingClientRect().height);
    return innerHeight === content && content > least;
  }, height);
}

interface Clicker {
  (target: Locator): Promise<void>;
  count: () => number;
  restart: () => void;
}

/** Clicks and counts. */
function clicker(): Clicker {
  let count = 0;
  const click = async (target: Locator): Promise<void> => {
    count += 1;
    await target.click();
  };
  return Object.assign(click, { count: () => count, restart: () => void (count = 0) });
}
