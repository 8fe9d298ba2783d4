// The contract in the console: its description, its repairs with their locations, and several contracts. Documents
// are untrusted, so their text must be shown as text.
import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { writeFiles } from '../e2e/contracts/stage.ts';
import { openStage, type Stage } from './stage.ts';

const hostile = '<img src=x onerror=alert(1)>';

function documentOf(title: string, path: string, callbacks: Record<string, string>): string {
  const content = { 'application/json': { schema: { type: 'object', properties: { url: {} } } } };
  const responses = { '200': { description: 'ok' } };
  const post = { requestBody: { content }, responses };
  const made = Object.entries(callbacks).map(([label, key]) => [label, { [key]: { post } }]);
  const operation = {
    operationId: `subscribe_${path.slice(1)}`,
    requestBody: { required: true, content },
    responses: { '201': { description: 'made' } },
    callbacks: Object.fromEntries(made),
  };
  const paths = { [path]: { post: operation } };
  return JSON.stringify({ openapi: '3.1.0', info: { title, version: '2' }, paths });
}

describe('the page of the contract', () => {
  let on: Stage;
  let folder: string;
  before(async () => {
    folder = await writeFiles({
      'shop.json': documentOf('The shop', '/shop', { paid: '{$request.body#/url}/paid' }),
      'bank.json': documentOf(hostile, '/bank', {
        [hostile]: '{request.body#/url}',
        [`W${'w'.repeat(2_000)}`]: '{$request.body#/url}/long',
      }),
    });
    const files = ['shop.json', 'bank.json'].map((name) => join(folder, name));
    on = await openStage({ env: { RINGBACK_CONTRACT: files.join(',') } });
  });
  after(async () => {
    await on[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });

  const isTooWide = async (page: Page): Promise<boolean> =>
    page.evaluate(() => document.documentElement.scrollWidth > innerWidth);

  it('shows how to subscribe and publish, and keeps the selection in the URL', async () => {
    await on.visit(async (page) => {
      await page.getByRole('link', { name: 'Contract' }).first().click();
      const subscribe = page.getByRole('region', { name: 'Subscribe' });
      await subscribe.getByText('{$request.body#/url}', { exact: true }).waitFor();
      await subscribe.getByText('POST to the URL in the request body at /url + /paid').waitFor();
      await page
        .getByRole('region', { name: 'Events to publish' })
        .getByText('paid')
        .first()
        .waitFor();
      await page.getByText('The contract is executed as written.').waitFor();
      const reference = page.getByRole('link', { name: 'API reference' });
      assert.equal(await reference.getAttribute('href'), '/docs?contract=The+shop');

      await page.getByLabel('Contract', { exact: true }).selectOption(`${hostile} (2)`);
      const warnings = page.getByRole('region', { name: 'Warnings and repairs' });
      await warnings.getByText('the "$" was missing').waitFor();
      await warnings.getByText('#/paths/~1bank/post/callbacks/').first().waitFor();
      await page.reload();
      await warnings.getByText('the "$" was missing').waitFor();
      assert.equal(await page.locator('main img').count(), 0);
      assert.equal(await isTooWide(page), false);
    });
  });

  it('fits a phone', async () => {
    await on.visit(
      async (page) => {
        await page.goto(`/console/contract?contract=${encodeURIComponent(hostile)}`);
        await page.getByText('the "$" was missing').first().waitFor();
        assert.equal(await isTooWide(page), false);
      },
      { viewport: { width: 360, height: 740 } },
    );
  });

  it('reports an unknown contract', async () => {
    await on.visit(async (page, faults) => {
      faults.expect(/console: Failed to load resource.* 404 .*\/report\)$/);
      await page.goto('/console/contract?contract=The+pub');
      await page.getByText('Cannot find contract "The pub"').waitFor();
    });
  });
});
