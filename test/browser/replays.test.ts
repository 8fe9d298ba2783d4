// Replays in the console: counted before anything is sent, watched while they run, cancelled, and finished. The
// receiver records what was actually sent again.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { until } from '../e2e/stage.ts';
import { header } from '../e2e/receiver.ts';
import { openStage, type Stage } from './stage.ts';

const delivered = 30;
const dead = 3;

describe('the page of replays', () => {
  let on: Stage;
  before(async () => {
    // Two attempts, so that failing deliveries are dead at once.
    on = await openStage({ env: { RINGBACK_RETRY: '1ms' } });
    on.receiver.script = ({ headers }) => (headers['ringback-event'] === 'order.lost' ? 500 : 200);
    const body = { callbackUrl: on.receiver.url };
    await on.service.call({ method: 'POST', path: '/subscribe', body });
    const names = [...many('order.paid', delivered), ...many('order.lost', dead)];
    for (const event of names) {
      const sent = { event, payload: { message: 'hello' } };
      await on.service.call({ method: 'POST', path: '/events', body: sent });
    }
    await until(
      async () => {
        const { json } = await on.service.call({ path: '/deliveries?limit=100' });
        return json['items'] as { state: string }[];
      },
      (items) => items.filter(hasEnded).length === delivered + dead,
    );
  });
  after(async () => on[Symbol.asyncDispose]());

  const form = (page: Page): Locator => page.getByRole('dialog', { name: 'New replay' });
  const drawer = (page: Page): Locator => page.getByRole('dialog', { name: 'Replay', exact: true });
  const press = async (place: Page | Locator, name: string): Promise<void> =>
    place.getByRole('button', { name, exact: true }).click();

  it('counts, and sends nothing before it is confirmed', async () => {
    await on.visit(async (page) => {
      const came = on.receiver.requests.length;
      await page.getByRole('link', { name: 'Replays' }).first().click();
      await page.getByText('No replays yet').waitFor();
      await page.getByRole('link', { name: 'New replay' }).first().click();
      await press(form(page), 'Count deliveries');
      await form(page).getByText('3 deliveries would be replayed').waitFor();
      await form(page).getByRole('button', { name: 'Replay 3 deliveries' }).waitFor();
      await form(page).getByLabel('Event', { exact: true }).fill('order.none');
      await page.keyboard.press('Tab');
      await form(page).getByRole('button', { name: 'Count deliveries', exact: true }).waitFor();
      const go = form(page).getByRole('button', { name: /^Replay/u });
      assert.equal(await go.count(), 0, 'the count is outdated');
      await form(page).getByLabel('Event', { exact: true }).focus();
      await page.keyboard.press('Enter');
      await form(page).getByText('No matching deliveries').waitFor();
      assert.equal(
        await form(page)
          .getByRole('button', { name: /^Replay/u })
          .count(),
        0,
      );
      assert.match(page.url(), /event=order\.none/);
      await page.reload();
      assert.equal(
        await form(page).getByLabel('Event', { exact: true }).inputValue(),
        'order.none',
      );
      await page.keyboard.press('Escape');
      await page.getByText('No replays yet').waitFor();
      assert.equal(page.url(), `${on.service.url}/console/replays`);
      assert.equal(on.receiver.requests.length, came);
    });
  });

  it('shows the progress of a slow one, and cancels it', async () => {
    await on.visit(async (page) => {
      await page.goto('/console/replays?new=1&state=delivered&event=order.*&rate=1');
      await press(form(page), 'Count deliveries');
      await press(form(page), `Replay ${delivered} deliveries`);
      await drawer(page).getByText('Running').waitFor();
      const bar = drawer(page).getByRole('progressbar');
      await page.waitForFunction(
        (element) => element instanceof HTMLProgressElement && element.value > 0,
        await bar.elementHandle(),
      );
      await press(drawer(page), 'Cancel replay');
      const question = page.getByRole('dialog', { name: 'Cancel this replay?' });
      await press(question, 'Cancel replay');
      await drawer(page).getByText('Cancelled', { exact: true }).first().waitFor();
      assert.equal(await drawer(page).getByRole('button', { name: 'Cancel replay' }).count(), 0);
      const { replayed, state } = await newestReplay();
      assert.equal(state, 'cancelled');
      assert(replayed > 0 && replayed < delivered, `${replayed} were sent again`);
      await page.keyboard.press('Escape');
      await page
        .getByRole('row', { name: /Successful deliveries of order\.\* Cancelled/u })
        .waitFor();
    });
  });

  it('runs one to its end, by keyboard alone, with live progress', async () => {
    await on.visit(async (page) => {
      on.receiver.script = () => 200;
      const came = on.receiver.requests.length;
      await page.goto('/console/replays');
      await page.keyboard.press('Tab');
      await page.getByRole('link', { name: 'New replay' }).first().focus();
      await page.keyboard.press('Enter');
      await form(page).getByLabel('Event', { exact: true }).focus();
      await page.keyboard.type('order.lost');
      await page.keyboard.press('Enter');
      const button = form(page).getByRole('button', { name: `Replay ${dead} deliveries` });
      await button.waitFor();
      await button.press('Enter');
      await drawer(page).getByText('Done', { exact: true }).first().waitFor();
      await drawer(page).getByText('100% of the time range').waitFor();
      const again = (await on.receiver.waitFor(came + dead)).slice(came);
      assert.deepEqual(
        again.map((one) => header(one, 'ringback-event')),
        many('order.lost', dead),
      );
      const replay = await newestReplay();
      assert.deepEqual([replay.state, replay.replayed, replay.skipped], ['done', dead, 0]);
      await page.reload();
      await drawer(page).getByRole('link', { name: 'New replay like this' }).click();
      assert.equal(
        await form(page).getByLabel('Event', { exact: true }).inputValue(),
        'order.lost',
      );
    });
  });

  it('replays what one customer missed', async () => {
    on.receiver.script = () => 500;
    const body = { callbackUrl: on.receiver.url, 'x-ringback': { customer: 'cus_1' } };
    await on.service.call({ method: 'POST', path: '/subscribe', body });
    const event = { event: 'order.missed', customer: 'cus_1', payload: { message: 'hello' } };
    await on.service.call({ method: 'POST', path: '/events', body: event });
    await until(
      async () => on.service.call({ path: '/deliveries?state=dead&customer=cus_1' }),
      ({ json }) => (json['items'] as unknown[]).length === 1,
    );
    await on.visit(async (page) => {
      on.receiver.script = () => 200;
      const came = on.receiver.requests.length;
      await page.goto('/console/replays?new=1');
      await form(page).getByLabel('Customer').fill('cus_1');
      await page.keyboard.press('Tab');
      await press(form(page), 'Count deliveries');
      await press(form(page), 'Replay 1 delivery');
      await drawer(page).getByText('Done', { exact: true }).first().waitFor();
      await on.receiver.waitFor(came + 1);
      await drawer(page).getByText('cus_1', { exact: true }).waitFor();
      await drawer(page).getByRole('link', { name: 'New replay like this' }).click();
      assert.equal(await form(page).getByLabel('Customer').inputValue(), 'cus_1');
      await page.keyboard.press('Escape');
      await page.getByRole('row', { name: /Dead deliveries to cus_1 Done/u }).waitFor();
    });
  });

  it('shows errors at their field', async () => {
    await on.visit(async (page, faults) => {
      faults.expect(/console: Failed to load resource.* 404 .*\/replays\)$/);
      await page.goto('/console/replays?new=1&subscriberId=sub_01jc4t6v8m3q5r7w9x1y2z3a4b');
      await press(form(page), 'Count deliveries');
      await form(page).getByRole('alert').getByText('The value names no subscription.').waitFor();
    });
  });

  async function newestReplay(): Promise<{ state: string; replayed: number; skipped: number }> {
    const { json } = await on.service.call({ path: '/replays?limit=1' });
    const [newest] = json['items'] as { state: string; replayed: number; skipped: number }[];
    assert(newest);
    return newest;
  }
});

function hasEnded({ state }: { state: string }): boolean {
  return state === 'delivered' || state === 'dead';
}

function many(name: string, times: number): string[] {
  return Array.from({ length: times }, () => name);
}
