// Events in the console: published by hand and delivered, rejected with an error at the right
// place, and shown as they were written.
import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { sharedLabel, writeFiles } from '../e2e/contracts/stage.ts';
import { openStage, type Stage } from './stage.ts';

describe('the page of events', () => {
  let on: Stage;
  let came = 0;
  before(async () => {
    on = await openStage();
    const body = { callbackUrl: on.receiver.url };
    const answer = await on.service.call({ method: 'POST', path: '/subscribe', body });
    assert.equal(answer.status, 201);
  });
  after(async () => on[Symbol.asyncDispose]());
  beforeEach(() => {
    came = on.receiver.requests.length;
    on.receiver.script = () => 200;
  });

  const form = (page: Page): Locator => page.getByRole('dialog', { name: 'Publish an event' });
  const payload = (page: Page): Locator => page.getByLabel('Payload (JSON)');
  const publish = (page: Page): Locator => form(page).getByRole('button', { name: /^Publish/ });
  const shows = async (place: Page | Locator, text: string | RegExp): Promise<void> =>
    place.getByText(text).first().waitFor();

  async function openForm(page: Page, event: string): Promise<void> {
    await page.goto('/console/events');
    await page.getByRole('link', { name: 'Publish an event' }).first().click();
    await form(page).getByLabel('Event', { exact: true }).fill(event);
  }

  it('publishes the example, and shows each state without a reload', async () => {
    const { promise: isOpen, resolve: open } = Promise.withResolvers<void>();
    on.receiver.script = async () => {
      await isOpen;
      return 200;
    };
    await on.visit(async (page) => {
      await openForm(page, 'order.created');
      assert.deepEqual(JSON.parse(await payload(page).inputValue()), {
        message: 'Something happened',
      });
      await shows(form(page), 'Payload schema');
      await publish(page).click();
      await shows(form(page), /1 (?:in flight|queued)/);
      await on.receiver.waitFor(came + 1);
      open();
      await shows(form(page), '1 delivered');
      await form(page).getByRole('link', { name: /^evt_/ }).click();
      const shown = page.getByRole('dialog', { name: 'Event', exact: true });
      await shows(shown, '1 delivered');
      await shows(shown.getByLabel('payload', { exact: true }), 'Something happened');
      await page.keyboard.press('Escape');
      await page.getByRole('row', { name: /order\.created.*1 delivered/ }).waitFor();
    });
  });

  it('shows JSON errors with their location, then contract errors, then publishes', async () => {
    await on.visit(async (page, faults) => {
      faults.expect(/console: Failed to load resource.* 422 .*\/events\)$/);
      await openForm(page, 'order.paid');
      await payload(page).fill('{\n  "message": "x",\n}');
      await shows(
        form(page),
        'Line 3, column 1: expected a property name in double quotes, found "}".',
      );
      assert(await publish(page).isDisabled());
      await payload(page).fill('{\n  "message": 3\n}');
      await publish(page).click();
      await shows(form(page), /Line 2, column 14: \/message must be a string, is a number/);
      await form(page).getByRole('button', { name: 'Go to error' }).click();
      const chosen = await payload(page).evaluate((area: HTMLTextAreaElement) =>
        area.value.slice(area.selectionStart, area.selectionEnd),
      );
      assert.equal(chosen, '3');
      await page.keyboard.type('"three"');
      await publish(page).click();
      await shows(form(page), '1 delivered');
      const [callback] = (await on.receiver.waitFor(came + 1)).slice(came);
      assert.equal(callback?.body.toString(), '{\n  "message": "three"\n}');
    });
  });

  it('shows what an event type says, and refuses a name that is nearly one', async () => {
    const put = async (name: string, body: object): Promise<void> => {
      const answer = await on.service.call({ method: 'PUT', path: `/event-types/${name}`, body });
      assert.equal(answer.status, 201, answer.text);
    };
    const schema = { type: 'object', required: ['parcel'], properties: { parcel: {} } };
    const description = 'A parcel was handed over';
    await put('parcel.sent', { schema, description, example: { parcel: 'p_1' } });
    await put('parcel.old', { schema: {}, state: 'deprecated' });
    await on.visit(async (page, faults) => {
      faults.expect(/console: Failed to load resource.* 422 .*\/events\)$/);
      await openForm(page, 'parcel.old');
      await shows(form(page), 'Deprecated');
      const option = form(page).locator('datalist option[value="parcel.sent"]');
      assert.equal(await option.getAttribute('label'), `version 1 · ${description}`);
      const field = form(page).getByLabel('Event', { exact: true });
      await field.fill('parcel.sent');
      await shows(form(page), 'Event type, version 1');
      await shows(form(page), description);
      assert.deepEqual(JSON.parse(await payload(page).inputValue()), { parcel: 'p_1' });
      assert.equal(await form(page).getByText('Deprecated').count(), 0);
      await field.fill('parcel.snet');
      await publish(page).click();
      await shows(form(page), 'did you mean "parcel.sent"?');
      await field.fill('parcel.sent');
      await publish(page).click();
      await shows(form(page), '1 delivered');
    });
  });

  it('publishes once, however often it is clicked, and every byte unchanged', async () => {
    await on.visit(async (page) => {
      await openForm(page, 'order.counted');
      const text = '{ "message": "n", "n": 123456789012345678901234567890, "x": 1.50 }';
      await payload(page).fill(text);
      await publish(page).dblclick();
      await shows(form(page), '1 delivered');
      const { json } = await on.service.call({ path: '/events?event=order.counted' });
      assert(Array.isArray(json['items']));
      assert.equal(json['items'].length, 1);
      const [callback] = (await on.receiver.waitFor(came + 1)).slice(came);
      assert.equal(callback?.body.toString(), text);
      await form(page).getByRole('link', { name: /^evt_/ }).click();
      await shows(page.getByLabel('payload', { exact: true }), '123456789012345678901234567890');
    });
  });

  it('shows an event that is published elsewhere', async () => {
    await on.visit(async (page) => {
      await page.goto('/console/events');
      await page.getByRole('button', { name: /^Live/ }).waitFor();
      const body = { event: 'order.live', payload: { message: 'here' } };
      await on.service.call({ method: 'POST', path: '/events', body });
      await page.getByRole('row', { name: /order\.live.*1 delivered/ }).waitFor();
    });
  });

  it('counts new events while the user interacts, and shows them on request', async () => {
    const send = async (event: string): Promise<void> => {
      const body = { event, payload: { message: 'here' } };
      const { status } = await on.service.call({ method: 'POST', path: '/events', body });
      assert.equal(status, 202);
    };
    await send('order.read');
    await on.visit(async (page) => {
      await page.goto('/console/events');
      await page
        .getByRole('row', { name: /order\.read/ })
        .first()
        .hover();
      await page.getByRole('button', { name: /^Live/ }).waitFor();
      await send('order.later');
      await send('order.later');
      await page.getByRole('button', { name: '2 new' }).waitFor();
      const late = page.getByRole('row', { name: /order\.later/ });
      assert.equal(await late.count(), 0, 'the list did not move under the pointer');
      // Moving the pointer to the button would leave the rows, which shows the new ones and removes the button.
      await page.getByRole('button', { name: '2 new' }).dispatchEvent('click');
      await late.nth(1).waitFor();
    });
  });

  it('shows hostile text as text', async () => {
    const message = `<img src=x onerror="alert(1)">\u202e${'W'.repeat(10_000)}`;
    const body = { event: 'x'.repeat(128), payload: { message, '</script><script>alert(1)': 1 } };
    const { json } = await on.service.call({ method: 'POST', path: '/events', body });
    await on.visit(async (page) => {
      page.on('dialog', () => assert.fail('a script ran'));
      await page.goto(`/console/events?eventId=${String(json['eventId'])}`);
      const shown = page.getByLabel('payload', { exact: true });
      await shows(shown, '<img src=x');
      await shows(shown, 'U+202E');
      assert.equal(await page.locator('main img, dialog img').count(), 0);
      const isWide = (): boolean => document.documentElement.scrollWidth > innerWidth;
      assert.equal(await page.evaluate(isWide), false);
    });
  });
});

describe('an event that skips callbacks', () => {
  it('names them, with the reason', async () => {
    const contracts = await writeFiles({ 'shared.yaml': sharedLabel(['order', 'user']) });
    const contract = join(contracts, 'shared.yaml');
    const env = { RINGBACK_CONTRACT: contract, RINGBACK_CONTRACT_ROOT: contracts };
    await using on = await openStage({ env });
    await rm(contracts, { recursive: true });
    const body = { event: 'changed', payload: { user: 1 } };
    const { json } = await on.service.call({ method: 'POST', path: '/events', body });
    await on.visit(async (page) => {
      await page.goto(`/console/events?eventId=${String(json['eventId'])}`);
      const shown = page.getByRole('dialog', { name: 'Event', exact: true });
      await shown.getByText('Skipped 1 callback').waitFor();
      await shown.getByRole('listitem').filter({ hasText: '/order is required' }).waitFor();
    });
  });
});
