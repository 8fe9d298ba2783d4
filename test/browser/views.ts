// All views of the console by name: each page, drawer and dialog, and the text that shows that it is complete.
import type { Page } from 'playwright-core';
import type { Shown } from './scene.ts';

export interface View {
  name: string;
  path: (shown: Shown) => string;
  /** Opens the view from the page, if it has no URL. */
  open?: (page: Page) => Promise<void>;
  /** Text that the view shows once it is complete. */
  text: string | RegExp;
}

/** The page before signing in. */
export const signInView: View = {
  name: 'sign-in',
  path: () => '/console/sign-in',
  text: 'No key?',
};

/** The console after the first start of the service. */
export const firstRunView: View = {
  name: 'first-run',
  path: () => '/console',
  text: 'Send test event',
};

export const views: readonly View[] = [
  { name: 'overview', path: () => '/console', text: 'Needs attention' },
  { name: 'deliveries', path: () => '/console/deliveries', text: /deliveries (?:loaded|in total)/ },
  {
    name: 'delivery',
    path: ({ deadId }) => `/console/deliveries?delivery=${deadId}`,
    text: 'content-type',
  },
  {
    name: 'delivery-request',
    path: ({ deadId }) => `/console/deliveries?delivery=${deadId}&tab=request`,
    text: 'webhook-signature',
  },
  {
    name: 'delivery-timeline',
    path: ({ retryingId }) => `/console/deliveries?delivery=${retryingId}&tab=timeline`,
    text: /Attempt 1/,
  },
  {
    name: 'delivery-event',
    path: ({ deliveredId }) => `/console/deliveries?delivery=${deliveredId}&tab=event`,
    text: 'currency',
  },
  {
    name: 'subscriptions',
    path: () => '/console/subscriptions',
    text: /subscriptions (?:loaded|in total)/,
  },
  {
    name: 'subscription',
    path: ({ failingSubscriberId }) => `/console/subscriptions?subscription=${failingSubscriberId}`,
    text: 'Unsubscribe',
  },
  {
    name: 'new-subscription',
    path: () => '/console/subscriptions?new=1',
    text: 'One URL for one event',
  },
  { name: 'events', path: () => '/console/events', text: /events (?:loaded|in total)/ },
  { name: 'event', path: ({ eventId }) => `/console/events?eventId=${eventId}`, text: 'currency' },
  {
    name: 'publish',
    path: () => '/console/events?publish=1&name=order.created',
    text: 'Payload schema',
  },
  {
    name: 'search',
    path: () => '/console/search?text=exp_56',
    text: /deliver(?:y|ies) in total/,
  },
  { name: 'customers', path: () => '/console/customers', text: /customers? (?:loaded|in total)/ },
  { name: 'replays', path: () => '/console/replays', text: /replays (?:loaded|in total)/ },
  {
    name: 'replay',
    path: ({ replayId }) => `/console/replays?replay=${replayId}`,
    text: 'Selection',
  },
  {
    name: 'new-replay',
    path: () => '/console/replays?new=1&state=dead',
    text: /Sends finished deliveries again/,
  },
  { name: 'keys', path: () => '/console/keys', text: /keys (?:loaded|in total)/ },
  { name: 'key', path: ({ keyId }) => `/console/keys?key=${keyId}`, text: 'Revoke' },
  { name: 'new-key', path: () => '/console/keys?new=1', text: 'Scopes' },
  { name: 'audit', path: () => '/console/audit', text: /entr(?:y|ies) (?:loaded|in total)/ },
  { name: 'contract', path: () => '/console/contract', text: /View the executed document/ },
];

const subscriptionPath = ({ failingSubscriberId }: Shown): string =>
  `/console/subscriptions?subscription=${failingSubscriberId}`;

/** Confirmations and other small dialogs. */
export const dialogViews: readonly View[] = [
  {
    name: 'rotate-secret',
    path: subscriptionPath,
    open: async (page) => press(page, 'Rotate secret'),
    text: 'Rotate secret?',
  },
  {
    name: 'unsubscribe',
    path: subscriptionPath,
    open: async (page) => press(page, 'Unsubscribe'),
    text: 'End this subscription?',
  },
  {
    name: 'change-url',
    path: subscriptionPath,
    open: async (page) =>
      page
        .getByRole('button', { name: /^Change URL/ })
        .first()
        .click(),
    text: 'Change URL',
  },
  {
    name: 'change-settings',
    path: subscriptionPath,
    open: async (page) => press(page, 'Change settings'),
    text: 'Retry delays',
  },
  {
    name: 'cancel-replay',
    path: ({ replayId }) => `/console/replays?replay=${replayId}`,
    open: async (page) => press(page, 'Cancel replay'),
    text: 'Cancel this replay?',
  },
  {
    name: 'rotate-key',
    path: ({ keyId }) => `/console/keys?key=${keyId}`,
    open: async (page) => page.getByRole('button', { name: /^Rotate/ }).click(),
    text: /Rotate this key\?/,
  },
  {
    name: 'revoke-key',
    path: ({ keyId }) => `/console/keys?key=${keyId}`,
    open: async (page) => page.getByRole('button', { name: /^Revoke/ }).click(),
    text: 'Revoke this key?',
  },
  {
    name: 'help',
    path: () => '/console/deliveries',
    open: async (page) => page.keyboard.press('?'),
    text: 'Keyboard shortcuts',
  },
];

async function press(page: Page, name: string): Promise<void> {
  await page.getByRole('dialog').getByRole('button', { name, exact: true }).click();
}

export async function showView(page: Page, view: View, shown: Shown): Promise<void> {
  await page.goto(view.path(shown));
  await page.locator('h1').first().waitFor();
  await view.open?.(page);
  await page.locator('main, dialog').getByText(view.text).first().waitFor();
  await settled(page);
}

/** Waits until nothing is loading or moving. */
export async function settled(page: Page): Promise<void> {
  await page.waitForFunction(
    () => document.querySelector('.skeleton, [aria-busy="true"]') === null,
  );
  await page.evaluate(async () => {
    await document.fonts.ready;
    await Promise.allSettled(document.getAnimations().map(async ({ finished }) => finished));
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  });
}
