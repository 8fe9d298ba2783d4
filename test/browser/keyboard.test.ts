// The console without a mouse: every action by keyboard alone, with an always visible focus.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { inState, onlyDelivery, publish, subscribe } from '../e2e/stage.ts';
import { act, tabTo } from './keyboard.ts';
import { openStage, type Stage } from './stage.ts';

describe('with the keyboard alone', () => {
  let on: Stage;
  let subscriberId = '';
  before(async () => {
    on = await openStage({ env: { RINGBACK_RETRY: '1s' } });
    ({ id: subscriberId } = await subscribe(on.service, on.receiver.url));
    on.receiver.script = () => 404;
    for (const event of ['order.first', 'order.second']) {
      const { eventId } = await publish(on.service, event);
      await inState(on.service, await onlyDelivery(on.service, { eventId }), 'dead');
    }
    on.receiver.script = () => 200;
  });
  after(async () => on[Symbol.asyncDispose]());

  it('a user signs in, visits every page, and signs out', async () => {
    await on.visit(
      async (page) => {
        await page.goto('/console/sign-in');
        await tabTo(page, page.getByLabel('API key', { exact: true }));
        await page.keyboard.type(on.service.key);
        await tabTo(page, page.getByRole('button', { name: 'Sign in' }));
        await page.keyboard.press('Enter');
        await heading(page, 'Overview').waitFor();
        const pages = {
          d: 'Deliveries',
          s: 'Subscriptions',
          u: 'Customers',
          e: 'Events',
          r: 'Replays',
          k: 'Keys',
          a: 'Audit',
          c: 'Contract',
          o: 'Overview',
        };
        for (const [letter, title] of Object.entries(pages)) {
          await page.keyboard.press('g');
          await page.keyboard.press(letter);
          await heading(page, title).waitFor();
        }
        await page.keyboard.press('?');
        const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
        await help.waitFor();
        await page.keyboard.press('Escape');
        await help.waitFor({ state: 'detached' });
        await page.keyboard.press('Tab');
        await tabTo(page, page.getByRole('link', { name: 'Skip to content' }), 'Shift+Tab');
        await page.keyboard.press('Enter');
        await page.keyboard.press('Tab');
        assert(await page.evaluate(() => document.activeElement?.closest('main') !== null));
        await tabTo(page, page.getByRole('button', { name: 'Sign out' }), 'Shift+Tab');
        await page.keyboard.press('Enter');
        await page.getByRole('button', { name: 'Sign in' }).waitFor();
      },
      { as: 'guest' },
    );
  });

  it('a failed delivery is found, opened, sent again and closed', async () => {
    await on.visit(async (page) => {
      await go(page, 'd', 'Deliveries');
      await page.getByRole('link', { name: 'order.first' }).waitFor();
      await tabTo(page, page.getByLabel('State'));
      await page.keyboard.type('Dead');
      await page.waitForURL(/state=dead/);
      await tabTo(page, page.getByLabel('Event', { exact: true }));
      await page.keyboard.type('order.second');
      await page.keyboard.press('Enter');
      await page.waitForURL(/event=order\.second/);
      await page.getByRole('link', { name: 'order.first' }).waitFor({ state: 'detached' });
      await tabTo(page, page.getByRole('link', { name: 'order.second' }));
      await page.keyboard.press('Enter');
      const drawer = page.getByRole('dialog');
      const tab = (name: string): Locator => drawer.getByRole('tab', { name });
      await drawer.getByRole('button', { name: 'Retry now' }).waitFor();
      await tabTo(page, tab('Response'));
      await page.keyboard.press('ArrowRight');
      await drawer.getByRole('tabpanel', { name: 'Timeline' }).waitFor();
      await tabTo(page, drawer.getByRole('button', { name: 'Retry now' }), 'Shift+Tab');
      await page.keyboard.press('Space');
      await drawer.getByRole('status').getByText('Delivered').waitFor();
      await page.keyboard.press('Escape');
      await drawer.waitFor({ state: 'detached' });
      await tabTo(page, page.getByRole('link', { name: 'Clear filters' }).first());
      await page.keyboard.press('Enter');
      await page.getByRole('link', { name: 'order.first' }).waitFor();
    });
  });

  it('a subscription is paused, resumed, and gets a new secret', async () => {
    await on.visit(async (page) => {
      await go(page, 's', 'Subscriptions');
      await page.getByRole('row', { name: /\/hook/ }).waitFor();
      await page.keyboard.press('j');
      await page.keyboard.press('Enter');
      const drawer = page.getByRole('dialog', { name: 'Subscription' });
      const button = (name: string): Locator => drawer.getByRole('button', { name, exact: true });
      await button('Pause').waitFor();
      await act(page, button('Pause'));
      await act(page, button('Resume'));
      await button('Pause').waitFor();
      await act(page, button('Rotate secret'));
      const asked = page.getByRole('dialog', { name: 'Rotate secret?' });
      await act(page, asked.getByRole('button', { name: 'Rotate secret' }));
      const once = page.getByRole('dialog', { name: 'New secret' });
      await once.getByText('whsec_').first().waitFor();
      await act(page, once.getByRole('button', { name: 'Done' }));
      await page.keyboard.press('Escape');
      await drawer.waitFor({ state: 'detached' });
      assert.match((await page.locator(':focus').textContent()) ?? '', /\/hook/);
    });
  });

  it('a subscription is pinged, pointed elsewhere and ended', async () => {
    const { id } = await subscribe(on.service, `${on.receiver.url}/leaving`);
    await on.visit(async (page) => {
      await page.goto(`/console/subscriptions?subscription=${id}`);
      const drawer = page.getByRole('dialog', { name: 'Subscription' });
      await act(page, drawer.getByRole('button', { name: 'Ping' }));
      await drawer.getByText('ringback.ping').first().waitFor();
      await act(page, drawer.getByRole('button', { name: /^Change URL/ }));
      const field = drawer.getByRole('textbox').first();
      await tabTo(page, field);
      await page.keyboard.press('ControlOrMeta+a');
      await page.keyboard.type(`${on.receiver.url}/moved`);
      await page.keyboard.press('Enter');
      await drawer.getByText('/moved').first().waitFor();
      await act(page, drawer.getByRole('button', { name: 'Unsubscribe' }));
      const asked = page.getByRole('dialog', { name: 'End this subscription?' });
      await act(page, asked.getByRole('button', { name: 'Unsubscribe' }));
      await drawer.getByText('Ended').first().waitFor();
    });
  });

  it('an event is published', async () => {
    await on.visit(async (page) => {
      await go(page, 'e', 'Events');
      await act(page, page.getByRole('link', { name: 'Publish an event' }).first());
      const form = page.getByRole('dialog', { name: 'Publish an event' });
      await tabTo(page, form.getByLabel('Event', { exact: true }));
      await page.keyboard.type('order.typed');
      await tabTo(page, form.getByRole('button', { name: /^Publish/ }));
      await page.keyboard.press('Enter');
      await form.getByText('1 delivered').first().waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('row', { name: /order\.typed/ }).waitFor();
    });
  });

  it('a replay is counted, started and cancelled', async () => {
    for (let at = 0; at < 5; at += 1) {
      const { eventId } = await publish(on.service, 'replay.me', { subscriberId });
      await inState(on.service, await onlyDelivery(on.service, { eventId }), 'delivered');
    }
    await on.visit(async (page) => {
      await go(page, 'r', 'Replays');
      await act(page, page.getByRole('link', { name: 'New replay' }).first());
      const form = page.getByRole('dialog', { name: 'New replay' });
      await tabTo(page, form.getByLabel('Deliveries'));
      await page.keyboard.type('Deli');
      await page.waitForURL(/state=delivered/);
      await tabTo(page, form.getByLabel('Rate limit'));
      await page.keyboard.press('ControlOrMeta+a');
      await page.keyboard.type('1');
      await act(page, form.getByRole('button', { name: 'Count' }));
      await act(page, form.getByRole('button', { name: /^Replay \d/ }));
      const drawer = page.getByRole('dialog', { name: 'Replay', exact: true });
      await act(page, drawer.getByRole('button', { name: 'Cancel replay' }));
      const asked = page.getByRole('dialog', { name: 'Cancel this replay?' });
      await act(page, asked.getByRole('button', { name: 'Cancel replay' }));
      await drawer.getByRole('status').getByText('Cancelled').first().waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('row', { name: /Cancelled/ }).waitFor();
    });
  });

  it('a key is made, rotated and revoked', async () => {
    await on.visit(async (page) => {
      await go(page, 'k', 'Keys');
      await act(page, page.getByRole('link', { name: 'New key' }).first());
      const form = page.getByRole('dialog', { name: 'New key' });
      await tabTo(page, form.getByLabel('Name'));
      await page.keyboard.type('typed by hand');
      await tabTo(page, form.getByLabel('admin'));
      await page.keyboard.press('Space');
      await act(page, form.getByRole('button', { name: 'Create key' }));
      const once = page.getByRole('dialog', { name: 'Key created' });
      await once.getByText('rbk_').first().waitFor();
      await page.keyboard.press('Escape');
      await once.waitFor({ state: 'detached' });
      await act(page, page.getByRole('link', { name: 'typed by hand' }));
      const drawer = page.getByRole('dialog', { name: 'Key', exact: true });
      await act(page, drawer.getByRole('button', { name: /^Rotate/ }));
      const rotating = page.getByRole('dialog', { name: 'Rotate this key?' });
      await act(page, rotating.getByRole('button', { name: /^Rotate/ }));
      const renewed = page.getByRole('dialog', { name: 'New secret' });
      await renewed.getByText('rbk_').first().waitFor();
      await page.keyboard.press('Escape');
      await renewed.waitFor({ state: 'detached' });
      await act(page, drawer.getByRole('button', { name: /^Revoke/ }));
      const asked = page.getByRole('dialog', { name: 'Revoke this key?' });
      await act(page, asked.getByRole('button', { name: 'Revoke key' }));
      await drawer.getByText('Revoked').first().waitFor();
    });
  });
});

function heading(page: Page, name: string): Locator {
  return page.getByRole('heading', { level: 1, name });
}

async function go(page: Page, letter: string, title: string): Promise<void> {
  await page.keyboard.press('g');
  await page.keyboard.press(letter);
  await heading(page, title).waitFor();
}
