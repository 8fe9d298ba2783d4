// The console and the portal below RINGBACK_MANAGE_PREFIX: links that sign in, pages, requests, live view and reload.
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

  it('opens the portal of a customer, which adds an endpoint', async () => {
    const made = await on.service.call({
      method: 'POST',
      path: `${prefix}/portal-links`,
      body: { customer: 'cus_1', language: 'en' },
    });
    assert.equal(made.status, 201, made.text);
    await on.visit(
      async (page) => {
        await page.goto(String(made.json['url']));
        await page.getByRole('link', { name: 'Add endpoint' }).first().click();
        await page.getByLabel('Endpoint URL').fill(on.receiver.url);
        await page.getByRole('button', { name: 'Add endpoint' }).click();
        await page.getByText('The endpoint is added').waitFor();
        await page.reload();
        await page.getByRole('heading', { name: on.receiver.url, level: 1 }).waitFor();
        assert.match(page.url(), /\/manage\/portal#\/endpoints\/sub_/);
      },
      { as: 'guest' },
    );
  });
});
