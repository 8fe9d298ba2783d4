// The console below RINGBACK_MANAGE_PREFIX: sign-in link, pages, requests, live view, links and reload.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { publish } from '../e2e/stage.ts';
import { openStage, type Stage } from './stage.ts';

const prefix = '/manage';

describe('the console below a prefix', () => {
  let on: Stage;
  before(async () => {
    on = await openStage({ env: { RINGBACK_MANAGE_PREFIX: prefix } });
  });
  after(async () => on[Symbol.asyncDispose]());

  it('opens by the link, navigates, follows events live, and survives a reload', async () => {
    await on.visit(async (page) => {
      const heading = (name: string) => page.getByRole('heading', { name, level: 1 }).waitFor();
      await heading('Overview');
      assert.equal(page.url(), `${on.service.url}${prefix}/console`);
      await page.getByRole('link', { name: 'Events', exact: true }).first().click();
      await heading('Events');
      assert.equal(page.url(), `${on.service.url}${prefix}/console/events`);
      const { call } = on.service;
      const below = {
        ...on.service,
        call: async (one: Parameters<typeof call>[0]) => call({ ...one, path: prefix + one.path }),
      };
      await page.getByText('Live', { exact: true }).first().waitFor();
      await publish(below, 'order.paid');
      await page.getByText('order.paid').first().waitFor();
      await page.reload();
      await page.getByText('order.paid').first().waitFor();
      const link = page.getByRole('link', { name: 'Contract', exact: true }).first();
      assert.equal(await link.getAttribute('href'), `${prefix}/console/contract`);
      await page.goto(`${prefix}/console/contract`);
      await heading('Contract');
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('button', { name: 'Sign in' }).waitFor();
      assert.equal(page.url(), `${on.service.url}${prefix}/console/sign-in`);
    });
  });
});
