// The contract in the console: its description, its repairs with their locations, and several contracts. Documents
// are untrusted, so their text must be shown as text.
import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { writeFiles } from '../e2e/contracts/stage.ts';
import { axeFindings } from './axe-findings.ts';
import { layoutFaults } from './layout-faults.ts';
import { openStage, type Stage } from './stage.ts';
import { windows } from './window-sizes.ts';

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

/** A document with nothing but webhooks, one of them hostile. */
function webhooksOf(title: string): string {
  const schema = { type: 'object', required: ['parcelId'], properties: { parcelId: {} } };
  const requestBody = { content: { 'application/json': { schema, example: { parcelId: 7 } } } };
  const responses = { '200': { description: 'ok' } };
  const webhooks = {
    'parcel.sent': { post: { description: 'It left.', requestBody, responses } },
    [hostile]: { post: { deprecated: true, description: hostile, requestBody, responses } },
  };
  return JSON.stringify({ openapi: '3.1.0', info: { title, version: '3' }, webhooks });
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
      'parcels.json': webhooksOf('Parcels'),
    });
    const files = ['shop.json', 'bank.json', 'parcels.json'].map((name) => join(folder, name));
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

  it('shows webhooks, and event types that the app declares, with schema and example', async () => {
    const schema = { type: 'object', required: ['invoiceId'] };
    const body = { schema, description: hostile, example: { invoiceId: 12 } };
    const put = { method: 'PUT', path: '/event-types/invoice.sent', body };
    assert.equal((await on.service.call(put)).status, 201);
    await on.visit(async (page) => {
      await page.goto('/console/contract?contract=Parcels');
      const types = page.getByRole('region', { name: 'Event types' });
      await types.getByText('parcel.sent').waitFor();
      await types.getByText('Deprecated').waitFor();
      await types.getByText('"parcelId"').first().waitFor();
      assert.equal(await page.getByText('No events to publish').count(), 0);
      await types.getByText('Payload schema').first().click();
      await types.locator('li', { hasText: 'parcelId' }).first().waitFor();
      assert.deepEqual([await layoutFaults(page), await axeFindings(page)], [[], []]);
      assert.equal(await types.getByText('invoice.sent').count(), 0);

      await page.getByLabel('Contract', { exact: true }).selectOption({ value: 'Ringback' });
      await types.getByText('invoice.sent').waitFor();
      await types.getByText('Event type, version 1').waitFor();
      await types.getByText(hostile).waitFor();
      await types.getByText('"invoiceId"').waitFor();
      assert.equal(await page.locator('main img').count(), 0);
    });
  });

  it('has a reference page with webhooks, which leads to the operations of Ringback', async () => {
    for (const { options } of windows) {
      await on.visit(async (page) => {
        await page.goto('/docs?contract=Parcels');
        const article = page.getByRole('article', { name: 'parcel.sent' });
        await article.getByText('It left.').waitFor();
        await article.getByText('"parcelId": 7').waitFor();
        await page.getByText('Deprecated.').waitFor();
        assert.deepEqual([await layoutFaults(page), await axeFindings(page)], [[], []]);
        await page.getByRole('link', { name: 'POST /subscribe' }).click();
        await page.waitForURL(/contract=Ringback#op-subscribeOperation$/);
        await page.locator('#op-subscribeOperation:target').waitFor();
        await page.goBack();
        await page.getByRole('link', { name: 'GET /event-types' }).click();
        await page.locator('#op-listEventTypes:target').waitFor();
      }, options);
    }
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
