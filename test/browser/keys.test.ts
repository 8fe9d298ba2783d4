// Keys in the console: created, with a secret that is shown once; used; rotated; revoked. Revoking the key of the
// session signs out.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { openStage, type Stage } from './stage.ts';

describe('the page of keys', () => {
  let on: Stage;
  before(async () => {
    on = await openStage();
  });
  after(async () => on[Symbol.asyncDispose]());

  const dialog = (page: Page, name: string): Locator =>
    page.getByRole('dialog', { name, exact: true });
  const press = async (place: Page | Locator, name: string): Promise<void> =>
    place.getByRole('button', { name, exact: true }).click();
  const statusWith = async (key: string, path = '/keys'): Promise<number> =>
    (await on.service.call({ path, key })).status;

  async function secretIn(place: Locator): Promise<string> {
    const code = place.getByLabel('key', { exact: true }).getByText('rbk_');
    return (await code.textContent()) ?? '';
  }

  async function make(
    name: string,
    scopes: readonly string[],
  ): Promise<{ id: string; key: string }> {
    const body = { name, scopes };
    const { json } = await on.service.call({ method: 'POST', path: '/keys', body });
    return { id: String(json['id']), key: String(json['key']) };
  }

  it('shows in the audit trail who made one, filtered by links that can be shared', async () => {
    const { id } = await make('recorded', ['read']);
    await on.service.call({ method: 'DELETE', path: `/keys/${id}` });
    await make('another', ['read']);
    await on.visit(async (page) => {
      await page.getByRole('link', { name: 'Audit' }).first().click();
      const row = (action: string): Locator => page.getByRole('row', { name: action });
      await row('Key revoked').waitFor();
      assert.equal(await row('Key created').count(), 2);
      await page.getByLabel('Object').fill(id);
      await page.keyboard.press('Enter');
      await page.getByText('Matching entries').waitFor();
      await page.getByText('2 entries in total').waitFor();
      await page.getByLabel('Action').selectOption('Key created');
      await page.getByText('1 entry in total').waitFor();
      assert.match(page.url(), new RegExp(`action=key.created&object=${id}|object=${id}&action=`));
      await page.getByLabel('By key').fill(on.service.key);
      await page.keyboard.press('Enter');
      await page.waitForURL(`**key=${on.service.key.slice(0, 12)}*`);
      assert(!page.url().includes(on.service.key), 'the secret part is not in the address bar');
      await page.getByText('1 entry in total').waitFor();
      await row('Key created').getByRole('link', { name: 'Key created' }).click();
      await dialog(page, 'Key').getByText('recorded').waitFor();
    });
  });

  it('creates a key, shows its secret once, and revokes it', async () => {
    await on.visit(async (page) => {
      await page.getByRole('link', { name: 'Keys' }).first().click();
      await page.getByRole('link', { name: 'New key' }).click();
      const form = dialog(page, 'New key');
      await press(form, 'Create key');
      await form.getByText('Enter a name.').waitFor();
      await form.getByLabel('Name').fill('Shop');
      await form.getByLabel('publish').uncheck();
      await form.getByLabel('admin').check();
      await form.getByLabel('Expires', { exact: true }).selectOption('In 30 days');
      await page.keyboard.press('Tab');
      await press(form, 'Create key');
      const once = dialog(page, 'Key created');
      const secret = await secretIn(once);
      assert.equal(await statusWith(secret), 200, 'it works');
      await press(once, 'Done');
      await page.getByRole('row', { name: /^Shop .* read, admin .* Active$/u }).waitFor();
      await page.reload();
      await page.getByRole('row', { name: /^Shop /u }).waitFor();
      assert(!(await page.content()).includes(secret), 'the secret is no longer shown');

      await page.getByRole('link', { name: 'Shop' }).click();
      await press(dialog(page, 'Key'), 'Revoke');
      await press(dialog(page, 'Revoke this key?'), 'Revoke key');
      await dialog(page, 'Key').getByText('Revoked', { exact: true }).first().waitFor();
      assert.equal(await statusWith(secret), 401, 'it no longer works');
      assert.equal(await dialog(page, 'Key').getByRole('button', { name: 'Rotate' }).count(), 0);
      await page.keyboard.press('Escape');
      await page.getByRole('row', { name: /^Shop .* Revoked$/u }).waitFor();
    });
  });

  it('rotates a key by keyboard: both secrets work, with a countdown for the old one', async () => {
    const { id, key } = await make('Rotated', ['admin']);
    await on.visit(async (page) => {
      await page.goto(`/console/keys?key=${id}`);
      await dialog(page, 'Key').getByRole('button', { name: 'Rotate' }).press('Enter');
      const question = dialog(page, 'Rotate this key?');
      await question.getByLabel('Overlap with the old secret').selectOption('1 hour');
      await question.getByRole('button', { name: 'Rotate key' }).press('Enter');
      const once = dialog(page, 'New secret');
      const secret = await secretIn(once);
      await once.getByText(/expires in 5\d min/u).waitFor();
      const counting = once.getByRole('status').locator('time');
      assert.equal(await counting.count(), 0, 'a countdown must not be read out every second');
      assert.notEqual(secret, key);
      assert.deepEqual([await statusWith(key), await statusWith(secret)], [200, 200]);
      await once.getByRole('button', { name: 'Done' }).press('Enter');
      await dialog(page, 'Key').getByText('Two secrets are valid').waitFor();
    });
  });

  it('warns before revoking the key of the session, and then signs out', async () => {
    const { key } = await make('Mine', ['read', 'admin']);
    await on.visit(
      async (page) => {
        await page.goto('/console/sign-in?to=/console/keys');
        await page.getByLabel('API key', { exact: true }).fill(key);
        await page.keyboard.press('Enter');
        await page.getByRole('row', { name: /^Mine Current /u }).waitFor();
        await page.getByRole('link', { name: 'Mine' }).click();
        await press(dialog(page, 'Key'), 'Revoke');
        const question = dialog(page, 'Revoke this key?');
        await question.getByText('You are signed in with this key').waitFor();
        await press(question, 'Cancel');
        assert.equal(await statusWith(key), 200);
        await press(dialog(page, 'Key'), 'Revoke');
        await press(question, 'Revoke and sign out');
        await page.getByRole('button', { name: 'Sign in' }).waitFor();
        assert.equal(page.url(), `${on.service.url}/console/sign-in`);
        assert.equal(await statusWith(key), 401);
        await page.goto('/console/keys');
        await page.getByRole('button', { name: 'Sign in' }).waitFor();
      },
      { as: 'guest' },
    );
  });

  it('warns before rotating the key of the session, and shows the new secret even if the old one ends', async () => {
    const { key } = await make('Own', ['read', 'admin']);
    await on.visit(
      async (page) => {
        await page.goto('/console/sign-in?to=/console/keys');
        await page.getByLabel('API key', { exact: true }).fill(key);
        await page.keyboard.press('Enter');
        await page.getByRole('link', { name: 'Own' }).click();
        await press(dialog(page, 'Key'), 'Rotate');
        const question = dialog(page, 'Rotate this key?');
        await question.getByText('You stay signed in only until the old secret expires').waitFor();
        await question.getByLabel('Overlap with the old secret').selectOption('0');
        await question.getByText('signed in again with the new secret').waitFor();
        const again = page.waitForResponse(
          (response) => response.url().endsWith('/console/session') && response.status() === 201,
        );
        await press(question, 'Rotate key');
        await again;
        const secret = await secretIn(dialog(page, 'New secret'));
        assert.deepEqual([await statusWith(key), await statusWith(secret)], [401, 200]);
        await page.goto('/console/keys');
        await page.getByRole('row', { name: /^Own Current /u }).waitFor();
      },
      { as: 'guest' },
    );
  });

  it('is not offered to a key without the scope', async () => {
    const { key } = await make('Reader', ['read']);
    await on.visit(
      async (page) => {
        await page.goto('/console/sign-in?to=/console/replays');
        await page.getByLabel('API key', { exact: true }).fill(key);
        await page.keyboard.press('Enter');
        await page.getByText('No replays yet').waitFor();
        assert.equal(await page.getByRole('link', { name: 'New replay' }).count(), 0);
        assert.equal(await page.getByRole('link', { name: 'Keys' }).count(), 0);
        await page.goto('/console/keys');
        await page.getByText('This page requires a key with the “admin” scope').waitFor();
      },
      { as: 'guest' },
    );
  });
});
