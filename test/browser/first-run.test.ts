// The first run: the printed link signs in to the console, and after signing out a key signs in again.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page, Response, Route } from 'playwright-core';
import { openByLink, openStage, type Stage } from './stage.ts';

describe('the first run', () => {
  let on: Stage;
  before(async () => {
    on = await openStage();
  });
  after(async () => on[Symbol.asyncDispose]());

  const overview = (page: Page) => page.getByRole('heading', { name: 'Overview', level: 1 });
  const signInButton = (page: Page) => page.getByRole('button', { name: 'Sign in' });
  const keyField = (page: Page) => page.getByLabel('API key', { exact: true });

  it('signs in by the link, signs out, and signs in with a key', async () => {
    await on.visit(async (page) => {
      await overview(page).waitFor();
      assert.equal(page.url(), `${on.service.url}/console`, 'no ticket is left in the URL');
      await page.getByRole('button', { name: 'Sign out' }).click();
      await signInButton(page).waitFor();
      assert.deepEqual(await page.context().cookies(), []);
      await keyField(page).fill(on.service.key);
      await keyField(page).press('Enter');
      await overview(page).waitFor();
      const [cookie] = await page.context().cookies();
      assert.deepEqual(
        [cookie?.name, cookie?.httpOnly, cookie?.sameSite],
        ['ringback_session', true, 'Strict'],
      );
      await page.reload();
      await overview(page).waitFor();
    });
  });

  it('redirects a signed-in user from the sign-in page', async () => {
    await on.visit(async (page) => {
      await overview(page).waitFor();
      await page.goto('/console/sign-in?to=/console/keys');
      await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor();
      assert.equal(page.url(), `${on.service.url}/console/keys`);
      await page.goto('/console');
      await overview(page).waitFor();
    });
  });

  it('renews the session of a page that is used, once an hour', async () => {
    await on.visit(async (page, faults) => {
      faults.expect(/console: Failed to load resource.* 503 .*\/console\/session\)$/);
      await overview(page).waitFor();
      let asked = 0;
      await page.route('**/console/session', async (route) => {
        asked += 1;
        await (asked === 1 ? route.fulfill({ status: 503, body: 'no' }) : route.continue());
      });
      const answer = (status: number): Promise<Response> =>
        page.waitForResponse((one) => one.url().endsWith('/session') && one.status() === status);
      await page.keyboard.press('Shift');
      assert.equal(asked, 0, 'it was read just now');
      for (const [hours, status] of [
        [2, 503],
        [4, 200],
      ] as const) {
        await page.clock.setSystemTime(Date.now() + hours * 3_600_000);
        const answered = answer(status);
        await page.keyboard.press('Shift');
        await page.keyboard.press('Shift');
        await answered;
        await overview(page).waitFor();
      }
      assert.equal(asked, 2);
    });
  });

  it('follows sign-ins and sign-outs of another tab', async () => {
    const body = { name: 'The other', scopes: ['read', 'admin'] };
    const made = await on.service.call({ method: 'POST', path: '/keys', body });
    await on.visit(
      async (page, faults) => {
        await page.goto('/console/sign-in?to=/console/keys');
        await keyField(page).fill(String(made.json['key']));
        await keyField(page).press('Enter');
        await page.getByRole('row', { name: /^The other Current /u }).waitFor();
        const tab = await page.context().newPage();
        await openByLink(on.service, tab);
        await overview(tab).waitFor();
        await page.getByRole('row', { name: /^(?!The other).* Current /u }).waitFor();
        // The first tab asks the service before it signs out.
        faults.expect(/console: Failed to load resource.* 401 .*\/console\/session\)$/);
        await tab.getByRole('button', { name: 'Sign out' }).click();
        await signInButton(page).waitFor();
        await keyField(tab).fill(on.service.key);
        await keyField(tab).press('Enter');
        await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor();
      },
      { as: 'guest' },
    );
  });

  it('keeps an open page while the service fails, and reconnects the live view', async () => {
    await on.visit(async (page, faults) => {
      faults.expect(/console: Failed to load resource.* 503 .*\/console\/session\)$/);
      faults.expect(/console: Failed to load resource.* 503 .*\/stream\)$/);
      await page.getByRole('button', { name: /^Live/ }).waitFor();
      await page.goto('/console/events?publish=1&name=half.written');
      const name = page.getByRole('dialog').getByLabel('Event', { exact: true });
      await name.waitFor();
      let isDown = true;
      const stumble = async (route: Route): Promise<void> =>
        isDown ? route.fulfill({ status: 503, body: 'no' }) : route.continue();
      await page.route('**/console/session', stumble);
      await page.route('**/stream', stumble);
      await name.fill('still.here');
      await lookAway(page);
      await page.waitForResponse((answer) => answer.url().endsWith('/console/session'));
      await page.waitForResponse((answer) => answer.url().endsWith('/stream'));
      isDown = false;
      await page.locator('.live-live').waitFor();
      assert.equal(await name.inputValue(), 'still.here');
    });
  });

  it('stays paused if it was paused between two tries', async () => {
    await on.visit(async (page, faults) => {
      faults.expect(/console: Failed to load resource.* 503 .*\/stream\)$/);
      const button = page.getByRole('button', { name: 'Pause live updates' });
      await page.locator('.live-live').waitFor();
      const held = Promise.withResolvers<void>();
      await page.route('**/console/session', async (route) => {
        await held.promise;
        await route.continue();
      });
      let tries = 0;
      await page.route('**/stream', async (route) => {
        tries += 1;
        await route.fulfill({ status: 503, body: 'no' });
      });
      const asked = page.waitForRequest('**/console/session');
      await lookAway(page);
      await asked;
      await button.click();
      await page.locator('.live-paused').waitFor();
      const answered = page.waitForResponse('**/console/session');
      held.resolve();
      await (await answered).finished();
      // The page handles the earlier response before it completes this call.
      await page.evaluate(async () => (await fetch('/console/session')).text());
      assert.equal(tries, 1);
    });
  });

  it('reports that a link was used, and accepts a key instead', async () => {
    await on.visit(
      async (page, faults) => {
        const link = (await on.service.signInLink()) ?? '';
        const ticket = link.replace(/^.*#ticket=/, '');
        const used = { method: 'POST', path: '/console/session', key: null, body: { ticket } };
        assert.equal((await on.service.call(used)).status, 201);
        faults.expect(/console: Failed to load resource.* 401 .*\/console\/session\)$/);
        await page.goto(link);
        await page.getByText('This sign-in link is no longer valid').waitFor();
        await keyField(page).fill('wrong');
        await signInButton(page).click();
        await page.getByText('Invalid key.').waitFor();
        await keyField(page).fill(on.service.key);
        await signInButton(page).click();
        await overview(page).waitFor();
      },
      { as: 'guest' },
    );
  });
});

/** Switches to another tab and back, which reopens the stream. */
async function lookAway(page: Page): Promise<void> {
  await page.evaluate(() => {
    for (const isHidden of [true, false]) {
      Object.defineProperty(document, 'hidden', { value: isHidden, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    }
  });
}
