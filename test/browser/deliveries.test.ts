// The deliveries in a real browser: failure and retry, search, filters, and live updates.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { attempted, deliveryOf, inState, onlyDelivery, publish, subscribe } from '../e2e/stage.ts';
import { openStage, type Stage } from './stage.ts';

const hostile = '<img src=x onerror="document.title=1"><script>document.title=2</script>';

describe('the deliveries page', () => {
  let on: Stage;
  before(async () => {
    on = await openStage({ env: { RINGBACK_RETRY: '10ms' } });
    await subscribe(on.service, on.receiver.url);
  });
  beforeEach(() => {
    on.receiver.script = () => 200;
  });
  after(async () => on[Symbol.asyncDispose]());

  /** Publishes an event; returns its delivery once it is in this state. */
  const deliver = async (event: string, state: string, payload?: string): Promise<string> => {
    const { eventId } = await publish(on.service, event, payload === undefined ? {} : { payload });
    const id = await onlyDelivery(on.service, { eventId });
    await inState(on.service, id, state);
    return id;
  };

  it('shows why a delivery failed, its request and response, and the progress of a retry', async () => {
    on.receiver.script = () => ({ status: 503, headers: { 'x-why': hostile }, body: hostile });
    const payload = `{"message":"it's ${JSON.stringify(hostile).slice(1, -1)}","big":12345678901234567890}`;
    const id = await deliver('order.refused', 'dead', payload);
    await on.visit(async (page) => {
      await page.goto('/console/deliveries');
      await row(page, 'order.refused').click();
      const drawer = page.getByRole('dialog');
      await drawer.getByText('503: Service unavailable').waitFor();
      await drawer.getByText('Once the receiver works again').waitFor();
      assert.equal(
        await drawer.getByLabel('response body', { exact: true }).textContent(),
        hostile,
      );
      await drawer.getByRole('cell', { name: hostile }).waitFor();
      await drawer.getByRole('tab', { name: 'Request' }).click();
      await drawer.getByRole('rowheader', { name: 'webhook-id' }).waitFor();
      const sent = (await drawer.getByLabel('request body', { exact: true }).textContent()) ?? '';
      assert.equal(sent.replaceAll(/\n\s*/g, '').replaceAll(': ', ':'), payload);
      on.receiver.script = () => 200;
      await drawer.getByRole('button', { name: 'Retry now' }).click();
      await drawer.getByRole('status').getByText('Delivered').waitFor();
      await drawer.getByRole('tab', { name: 'Timeline' }).click();
      await drawer.getByText('Attempt 2: HTTP 503').waitFor();
      await drawer.getByText('Attempt 3: HTTP 200').waitFor();
      await close(page);
      await row(page, 'order.refused').getByText('Delivered').waitFor();
      assert.equal(await page.title(), 'Deliveries · Ringback', 'no injected script ran');
    });
    assert.equal((await deliveryOf(on.service, id)).attemptCount, 3);
  });

  it('copies the request as a command, but not its signature', async () => {
    await deliver('order.copied', 'delivered', `{"message":"it's"}`);
    await on.visit(
      async (page) => {
        const late = Promise.withResolvers<void>();
        await page.route(/\/events\/evt_/, async (route) => {
          await late.promise;
          await route.continue();
        });
        await page.goto('/console/deliveries');
        await row(page, 'order.copied').click();
        const copy = page.getByRole('button', { name: 'Copy as curl' });
        // An incomplete request cannot be copied.
        await copy.and(page.locator('[aria-busy="true"]')).waitFor();
        late.resolve();
        await copy.click();
        await page.getByText('The webhook-signature header is not included').waitFor();
        const copied = await page.evaluate(async () => navigator.clipboard.readText());
        assert.match(copied, /^curl --globoff -X 'POST' 'http:\/\/127\.0\.0\.1:\d+\/hook' \\\n/);
        assert.ok(copied.endsWith(String.raw`--data-raw '{"message":"it'\''s"}'`), copied);
        assert.doesNotMatch(copied, /webhook-signature/);
      },
      { permissions: ['clipboard-read', 'clipboard-write'] },
    );
  });

  it('reports that the body of a copied request could not be loaded', async () => {
    await deliver('order.unread', 'delivered');
    await on.visit(
      async (page, faults) => {
        await page.route(/\/events\/evt_/, async (route) => route.fulfill({ status: 503 }));
        faults.expect(/console: Failed to load resource.* 503 .*\/events\/evt_/);
        await page.goto('/console/deliveries');
        await row(page, 'order.unread').click();
        await page.getByRole('button', { name: 'Copy as curl' }).click();
        await page
          .getByText('The body is missing, because the event could not be loaded.')
          .waitFor();
        const copied = await page.evaluate(async () => navigator.clipboard.readText());
        assert.doesNotMatch(copied, /--data-raw/);
      },
      { permissions: ['clipboard-read', 'clipboard-write'] },
    );
  });

  it('counts down to the next attempt', async () => {
    on.receiver.script = () => ({ status: 429, headers: { 'retry-after': '600' } });
    const { eventId } = await publish(on.service, 'order.later');
    const id = await onlyDelivery(on.service, { eventId });
    await attempted(on.service, id);
    await on.visit(async (page) => {
      await page.goto('/console/deliveries?state=due');
      await row(page, 'order.later').getByText('Retrying').waitFor();
      await row(page, 'order.later')
        .getByText(/^in 9 min \d+ s$/)
        .waitFor();
      await row(page, 'order.later').click();
      await page.getByText(/1 failed attempt so far\. Next attempt in 9 min/).waitFor();
      assert.equal(await page.getByRole('button', { name: 'Retry now' }).count(), 0);
    });
  });

  it('filters the list, and shows the same after a reload', async () => {
    await deliver('invoice.sent', 'delivered');
    on.receiver.script = () => 404;
    await deliver('invoice.lost', 'dead');
    await on.visit(async (page) => {
      await page.goto('/console/deliveries');
      await page.getByLabel('State').selectOption('dead');
      await row(page, 'invoice.sent').waitFor({ state: 'detached' });
      await type(page.getByLabel('Event'), 'invoice.*');
      await type(page.getByLabel('Status or error'), '4xx');
      await page.waitForURL(/state=dead&event=invoice\.\*&status=4xx$/);
      await rows(page).nth(1).waitFor({ state: 'detached' });
      await row(page, 'invoice.lost').waitFor();
      await page.reload();
      await row(page, 'invoice.lost').waitFor();
      assert.equal(await rows(page).count(), 1);
      assert.equal(await page.getByLabel('Status or error').inputValue(), '4xx');
      await type(page.getByLabel('Status or error'), 'nonsense');
      await page.getByText('Expected a status such as 404').waitFor();
      await type(page.getByLabel('Status or error'), 'dns');
      await page.getByText('No deliveries match').waitFor();
      await page.getByRole('main').getByRole('link', { name: 'Clear filters' }).last().click();
      await row(page, 'invoice.sent').waitFor();
      await page.goBack();
      await page.getByText('No deliveries match').waitFor();
    });
  });

  it('selects a time range in the chart, by dragging and by keyboard', async () => {
    await deliver('order.charted', 'delivered');
    await on.visit(async (page) => {
      await page.goto('/console/deliveries');
      await row(page, 'order.charted').waitFor();
      const chart = page.getByRole('slider');
      const { x, y, width } = (await chart.boundingBox()) ?? { x: 0, y: 0, width: 0 };
      await page.mouse.move(x + width * 0.2, y + 40);
      await page.mouse.down();
      await page.mouse.move(x + width * 0.5, y + 40, { steps: 3 });
      await page.mouse.up();
      await page.getByText('No deliveries match').waitFor();
      const { searchParams } = new URL(page.url());
      const lengthMs =
        Date.parse(searchParams.get('until') ?? '') - Date.parse(searchParams.get('from') ?? '');
      assert.ok(lengthMs >= 17 * 60_000 && lengthMs <= 21 * 60_000, `${lengthMs} ms of an hour`);
      await page.reload();
      await page.getByText('No deliveries match').waitFor();
      await page.getByRole('link', { name: 'Any time' }).click();
      await row(page, 'order.charted').waitFor();
      await chart.focus();
      await page.keyboard.press('End');
      for (let steps = 0; steps < 5; steps += 1) await page.keyboard.press('Shift+ArrowLeft');
      await page.keyboard.press('Enter');
      await page.waitForURL(/from=.*until=/);
      await row(page, 'order.charted').waitFor();
    });
  });

  it('finds records by their id, and reports unknown ids', async () => {
    const id = await deliver('order.found', 'delivered');
    const attempt = `${id.replace('dlv_', 'att_')}_1`;
    await on.visit(async (page, faults) => {
      await page.goto('/console/deliveries');
      await row(page, 'order.found').waitFor();
      await search(page, attempt);
      await page.getByRole('dialog').getByText('order.found').waitFor();
      assert.ok(page.url().endsWith(`?delivery=${id}&attempt=1`), page.url());
      await close(page);
      faults.expect(/404 .*\/deliveries\/dlv_nobody_0\)$/);
      await search(page, 'dlv_nobody_0');
      await page.getByText('Delivery not found').waitFor();
      await close(page);
      await search(page, 'whsec_secret');
      await page.getByText('Expected an ID').waitFor();
      assert.ok(!page.url().includes('secret'), page.url());
    });
  });

  it('can be navigated by keyboard alone', async () => {
    for (const event of ['walk.c', 'walk.b', 'walk.a']) await deliver(event, 'delivered');
    await on.visit(async (page) => {
      await page.keyboard.press('g');
      await page.keyboard.press('d');
      await row(page, 'walk.a').waitFor();
      await page.keyboard.press('j');
      await page.keyboard.press('j');
      await page.keyboard.press('Enter');
      const drawer = page.getByRole('dialog');
      await drawer.getByText('walk.b').waitFor();
      await page.keyboard.press('j');
      await drawer.getByText('walk.c').waitFor();
      await close(page);
      const focused = page.locator(':focus');
      assert.equal(await focused.textContent(), 'walk.c');
      await page.keyboard.press('k');
      assert.equal(await focused.textContent(), 'walk.b');
    });
  });

  it('shows new deliveries, and only counts them while the user interacts', async () => {
    await deliver('live.before', 'delivered');
    await on.visit(async (page) => {
      await page.goto('/console/deliveries');
      await row(page, 'live.before').waitFor();
      await page.getByRole('button', { name: /^Live/ }).waitFor();
      await deliver('live.first', 'delivered');
      await row(page, 'live.first').getByText('Delivered').waitFor();
      await row(page, 'live.first').hover();
      await deliver('live.second', 'delivered');
      await deliver('live.third', 'delivered');
      const news = page.getByRole('button', { name: '2 new' });
      await news.waitFor();
      assert.equal(await row(page, 'live.second').count(), 0, 'the list does not move');
      // Moving the pointer to the button would leave the rows, which shows the new ones and removes the button.
      await news.dispatchEvent('click');
      await row(page, 'live.second').waitFor();
      assert.match((await rows(page).first().textContent()) ?? '', /live\.third/);
    });
  });
});

function rows(page: Page): Locator {
  return page.getByRole('table').locator('tbody').getByRole('row');
}

function row(page: Page, event: string): Locator {
  return rows(page).filter({ has: page.getByText(event, { exact: true }) });
}

async function type(field: Locator, text: string): Promise<void> {
  await field.fill(text);
  await field.press('Enter');
}

async function close(page: Page): Promise<void> {
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
}

async function search(page: Page, id: string): Promise<void> {
  await page.keyboard.press('/');
  await page.keyboard.type(id);
  await page.keyboard.press('Enter');
}
