// Subscriptions in the console: created, pinged, paused and resumed, changed to another URL, given a new secret,
// and ended. The receiver records what was actually sent.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import type { Received } from '../e2e/receiver.ts';
import { subjectStore } from '../subject-store.ts';
import { openStage, type Stage } from './stage.ts';

describe('the page of subscriptions', () => {
  const opened = subjectStore();
  let on: Stage;
  before(async () => {
    on = await openStage({ openStore: opened.openStore });
  });
  after(async () => on[Symbol.asyncDispose]());
  /** The number of callbacks received before the test. */
  let came = 0;
  beforeEach(() => {
    came = on.receiver.requests.length;
    on.receiver.script = () => 200;
  });

  const drawer = (page: Page): Locator => page.getByRole('dialog', { name: 'Subscription' });
  const press = async (place: Page | Locator, name: string): Promise<void> =>
    place.getByRole('button', { name, exact: true }).click();
  const shows = async (place: Page | Locator, text: string | RegExp): Promise<void> =>
    place.getByText(text).first().waitFor();

  async function subscribe(path: string): Promise<string> {
    const body = { callbackUrl: `http://127.0.0.1:${on.receiver.port}/${path}` };
    const answer = await on.service.call({ method: 'POST', path: '/subscribe', body });
    assert.equal(answer.status, 201);
    return String(answer.json['subscriberId']);
  }

  async function open(page: Page, id: string): Promise<Locator> {
    await page.goto(`/console/subscriptions?subscription=${id}`);
    await drawer(page).getByRole('button', { name: 'Ping' }).waitFor();
    return drawer(page);
  }

  /** The text of a code block, once it is shown. */
  async function codeOf(place: Locator, label: string): Promise<string> {
    const code = place.getByLabel(label, { exact: true }).getByText('whsec_');
    return (await code.textContent()) ?? '';
  }

  async function newCallbacks(size: number): Promise<readonly Received[]> {
    return (await on.receiver.waitFor(came + size)).slice(came);
  }

  it('creates one, and its secret verifies the signature of a ping', async () => {
    await on.visit(async (page) => {
      await page.getByRole('link', { name: 'Subscriptions' }).first().click();
      await page.getByRole('link', { name: 'New subscription' }).first().click();
      await page.getByRole('radio', { name: 'One URL for one event' }).check();
      await page.getByLabel('Callback URL').fill(on.receiver.url);
      await page.getByLabel('Event', { exact: true }).fill('order.created');
      await page.keyboard.press('Enter');
      const done = page.getByRole('dialog', { name: 'Subscription created' });
      const secret = await codeOf(done, 'signing secret');
      await done.getByRole('link', { name: 'Open subscription' }).click();
      await shows(drawer(page), 'order.created');
      await press(drawer(page), 'Ping');
      await shows(drawer(page), '1 delivered');
      const [ping] = await newCallbacks(1);
      assert(ping);
      verify(ping, secret);
      const text = await page.locator('main').innerText();
      assert(!text.includes(secret), 'the secret is no longer shown');
    });
  });

  it('shows at the field why a URL is refused', async () => {
    await on.visit(async (page, faults) => {
      faults.expect(/console: Failed to load resource.* 422 .*\/subscribe\)$/);
      await page.goto('/console/subscriptions?new=1');
      await page.getByLabel('Callback URL').fill('http://10.0.0.1/hook');
      await page.keyboard.press('Enter');
      await shows(page.getByRole('alert'), /host is 10\.0\.0\.1, of the class private/);
      assert.equal(await page.getByLabel('Callback URL').getAttribute('aria-invalid'), 'true');
    });
  });

  it('pauses, so that deliveries stay pending, and resumes, so that they are sent', async () => {
    const id = await subscribe('paused');
    await on.visit(async (page) => {
      const shown = await open(page, id);
      await press(shown, 'Pause');
      await shows(shown, 'They stay pending until the subscription is resumed.');
      await press(shown, 'Ping');
      await shows(shown, '1 queued');
      await shows(shown, 'The subscription is paused');
      assert.equal(on.receiver.requests.length, came, 'nothing was sent');
      await press(shown, 'Resume');
      await shows(shown, '1 delivered');
      await newCallbacks(1);
      await page.keyboard.press('Escape');
      await page.getByRole('row', { name: /\/paused.*Active/ }).waitFor();
    });
  });

  it('rotates the secret, with a countdown for the old one, which still signs', async () => {
    const id = await subscribe('rotated');
    await on.visit(async (page) => {
      const shown = await open(page, id);
      assert.equal(await shown.getByText('whsec_').count(), 0, 'hidden by default');
      await press(shown, 'Show secret');
      const old = await codeOf(shown, 'signing secret');
      await press(shown, 'Rotate secret');
      await press(page.getByRole('dialog', { name: 'Rotate secret?' }), 'Rotate secret');
      const once = page.getByRole('dialog', { name: 'New secret' });
      const fresh = await codeOf(once, 'new signing secret');
      assert.notEqual(fresh, old);
      await shows(once, /in 23 h 59 min|in 24 h/);
      const counting = once.getByRole('status').locator('time');
      assert.equal(await counting.count(), 0, 'a countdown must not be read out every second');
      await press(once, 'Done');
      assert.equal(await codeOf(shown, 'old signing secret'), old);
      assert.equal(await codeOf(shown, 'signing secret'), fresh);
      await shows(shown, /The old secret is also used for signing\. It expires in 2/);
      await press(shown, 'Ping');
      const [ping] = await newCallbacks(1);
      assert(ping);
      for (const secret of [old, fresh]) verify(ping, secret);
      await press(shown, 'Hide secret');
      assert.equal(await shown.getByText('whsec_').count(), 0);
    });
  });

  it('changes the URL of a callback, and shows why a URL is refused', async () => {
    const id = await subscribe('before');
    await on.visit(async (page, faults) => {
      faults.expect(/console: Failed to load resource.* 422 .*\/subscriptions\//);
      const shown = await open(page, id);
      await press(shown, 'Change URL of myEvent for *');
      const asked = page.getByRole('dialog', { name: 'Change URL' });
      await asked.getByLabel('URL for myEvent').fill('ftp://receiver.example');
      await page.keyboard.press('Enter');
      await shows(asked.getByRole('alert'), /scheme is "ftp", expected http or https/);
      const url = `http://127.0.0.1:${on.receiver.port}/elsewhere`;
      await asked.getByLabel('URL for myEvent').fill(url);
      await press(asked, 'Change URL');
      await shows(shown, url);
      await press(shown, 'Ping');
      assert.equal((await newCallbacks(1))[0]?.url, '/elsewhere');
    });
  });

  it('changes settings, and shows errors at their field', async () => {
    const id = await subscribe('chosen');
    await on.visit(async (page, faults) => {
      faults.expect(/console: Failed to load resource.* 400 .*\/subscriptions\//);
      const shown = await open(page, id);
      await shows(shown, 'No overrides.');
      await press(shown, 'Change settings');
      const form = page.getByRole('dialog', { name: 'Change settings' });
      const rate = form.getByLabel('Attempts per second');
      await rate.fill('5000');
      const events = form.getByLabel('Events of myEvent');
      await events.fill(`order.* ${'x'.repeat(257)}`);
      await form.getByLabel('Ordered').check();
      await form.getByLabel('New headers').fill('X-Team: search\nAuthorization: Bearer a:b');
      await form.getByLabel('Filter (JSON)').fill('{"/country": ["DE", "AT"]');
      await press(form, 'Save');
      await shows(form.getByRole('alert'), /Line 1, column 26: expected "," or "}"/);
      await form.getByLabel('Filter (JSON)').fill('{"/country": ["DE", "AT"]}');
      await press(form, 'Save');
      await shows(form.getByRole('alert'), 'The value must be at most 1000, is 5000.');
      assert.equal(await rate.getAttribute('aria-invalid'), 'true');
      await rate.fill('5');
      await press(form, 'Save');
      await shows(form.getByRole('alert'), 'Pattern 2 must have at most 256 characters, has 257');
      const isFirst = await events.evaluate((one) => one === document.activeElement);
      assert(isFirst, 'the first invalid field has the focus');
      await events.fill('order.* invoice.paid, order.*');
      await page.keyboard.press('Enter');
      await form.waitFor({ state: 'detached' });
      await page.reload();
      await shows(shown, 'subscribed to order.*, invoice.paid');
      const settings = shown.getByRole('region', { name: 'Settings' });
      await shows(settings, '5 attempts per second');
      await shows(settings, 'One delivery at a time, in publish order');
      await shows(settings, 'X-Team, Authorization');
      await shows(settings, '/country is DE or AT');
      await press(shown, 'Ping');
      assert.equal((await newCallbacks(1))[0]?.headers['authorization'], 'Bearer a:b');
      await press(settings, 'Change settings');
      await rate.fill('');
      await form.getByLabel('Remove all headers').check();
      await press(form, 'Save');
      await form.waitFor({ state: 'detached' });
      const { json } = await on.service.call({ path: `/subscriptions/${id}` });
      assert.deepEqual(
        [json['rateLimit'], json['headerNames'], json['ordered'], json['filter']],
        [undefined, undefined, true, { '/country': ['DE', 'AT'] }],
      );
    });
  });

  it('shows the public key of one that signs with Ed25519', async () => {
    const id = await subscribe('pair');
    const body = { signing: 'ed25519' };
    await on.service.call({ method: 'PATCH', path: `/subscriptions/${id}`, body });
    await on.visit(async (page) => {
      const shown = await open(page, id);
      await press(shown, 'Show public key');
      await shows(shown.getByLabel('public key', { exact: true }), /^whpk_/);
      await shows(shown, 'The old secret is also used for signing');
    });
  });

  it('ends one after a confirmation, and then offers no actions', async () => {
    const id = await subscribe('ended');
    await on.visit(async (page) => {
      const shown = await open(page, id);
      await press(shown, 'Unsubscribe');
      const asked = page.getByRole('dialog', { name: 'End this subscription?' });
      await shows(asked, 'This cannot be undone.');
      await press(asked, 'Cancel');
      await press(shown, 'Unsubscribe');
      await press(asked, 'Unsubscribe');
      await shows(shown, 'The subscription receives no more events and cannot be resumed.');
      assert.equal(await shown.getByRole('button', { name: /Ping|Pause|Secret/i }).count(), 0);
      const { json } = await on.service.call({ path: `/subscriptions/${id}` });
      assert.equal(json['state'], 'ended');
    });
  });

  it('keeps its filters in the URL, and reports that nothing matches', async () => {
    await subscribe('filtered');
    await on.visit(async (page) => {
      await page.goto('/console/subscriptions');
      const rows = page.getByRole('row', { name: /127\.0\.0\.1/ });
      await rows.first().waitFor();
      await page.getByLabel('State').selectOption('disabled');
      await shows(page, 'No subscriptions match');
      await page.reload();
      await shows(page, 'No subscriptions match');
      assert.equal(new URL(page.url()).search, '?state=disabled');
      await page.goBack();
      await rows.first().waitFor();
      await page.goForward();
      await page.getByRole('link', { name: 'Clear filters' }).first().click();
      await rows.first().waitFor();
      assert.equal(new URL(page.url()).search, '');
    });
  });

  it('works with the keyboard alone', async () => {
    const id = await subscribe('keyboard');
    await on.visit(async (page) => {
      await page.keyboard.press('g');
      await page.keyboard.press('s');
      const link = page.getByRole('link', { name: /\/keyboard/ });
      await link.waitFor();
      await page.keyboard.press('j');
      await page.keyboard.press('Enter');
      await drawer(page).getByRole('button', { name: 'Ping' }).waitFor();
      assert.equal(new URL(page.url()).searchParams.get('subscription'), id);
      await tabTo(page, 'Pause');
      await page.keyboard.press('Enter');
      await shows(drawer(page), 'Paused');
      await page.keyboard.press('Escape');
      await drawer(page).waitFor({ state: 'detached' });
      assert(
        await link.evaluate((one) => one === document.activeElement),
        'the focus returns to the link',
      );
    });
  });

  it('confirms an unconfirmed one, found by its subject, and says why it ended', async () => {
    const exchange = { requestId: 'req_17', status: undefined };
    const confirmByMs = Date.now() + 3_600_000;
    Object.assign(opened.adding, { subject: 'job_17', confirmByMs, exchange });
    const id = await subscribe('unconfirmed');
    Object.assign(opened.adding, {
      subject: undefined,
      confirmByMs: undefined,
      exchange: undefined,
    });
    await on.visit(async (page) => {
      await page.goto('/console/subscriptions?state=unconfirmed');
      await page.getByLabel('Subject', { exact: true }).fill('job_17');
      await page.keyboard.press('Enter');
      const rows = page.getByRole('table').getByRole('row');
      await shows(rows.filter({ hasText: 'Unconfirmed' }), 'job_17');
      assert.equal(await rows.count(), 2);
      await page.goto(`/console/subscriptions?subscription=${id}`);
      await shows(drawer(page), 'Unconfirmed: receives no events yet');
      await shows(
        drawer(page),
        'No answer was recorded, so it is not known whether the API accepted it.',
      );
      await shows(drawer(page), 'req_17');
      const refused = /Pause|Ping|Change|Rotate|Replay/;
      assert.equal(await drawer(page).getByRole('button', { name: refused }).count(), 0);
      await press(drawer(page), 'Confirm');
      await drawer(page).getByRole('button', { name: 'Ping' }).waitFor();
      await press(drawer(page), 'Unsubscribe');
      await press(page.getByRole('dialog', { name: 'End this subscription?' }), 'Unsubscribe');
      await shows(drawer(page), /^A request ended it\./);
    });
    const { json } = await on.service.call({ path: `/subscriptions/${id}` });
    assert.equal(json['endReason'], 'unsubscribed');
  });

  it('is found by its subject with its events and deliveries, and shows what made it', async () => {
    const exchange = { requestId: 'req_18', status: 201 };
    Object.assign(opened.adding, { subject: 'job_18', exchange });
    const id = await subscribe('about');
    Object.assign(opened.adding, { subject: undefined, exchange: undefined });
    await on.visit(async (page) => {
      await page.goto('/console');
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
      await page.keyboard.press('/');
      await page.keyboard.type('job_18');
      await page.keyboard.press('Enter');
      await shows(page, 'No event has this subject.');
      const event = { event: 'order.created', subject: 'job_18', payload: { message: 'hello' } };
      const sent = await on.service.call({ method: 'POST', path: '/events', body: event });
      assert.equal(sent.status, 202, sent.text);
      const part = (name: string): Locator => page.getByRole('region', { name });
      await shows(part('Events'), 'order.created');
      await shows(part('Deliveries'), 'Delivered');
      await part('Deliveries').getByRole('link', { name: 'Open list' }).click();
      await shows(page, 'Matching deliveries');
      await page.getByRole('table').getByRole('cell', { name: 'job_18' }).first().waitFor();
      await page.goBack();
      await part('Subscriptions').getByRole('link', { name: /about/ }).click();
      await shows(drawer(page), 'answered with 201');
      assert.equal(new URL(page.url()).searchParams.get('subscription'), id);
      await drawer(page).getByRole('link', { name: 'events' }).click();
      await shows(page, 'Matching events');
      await page.getByRole('table').getByRole('link', { name: 'order.created' }).click();
      await shows(page.getByRole('dialog', { name: 'Event' }), 'job_18');
    });
  });

  it('belongs to a customer, who is chosen, filtered by, found and changed', async () => {
    await subscribe('nobody');
    await on.visit(async (page) => {
      await page.goto('/console/subscriptions?url=nobody');
      await page.getByRole('columnheader', { name: 'URL' }).waitFor();
      const column = page.getByRole('columnheader', { name: 'Customer' });
      assert.equal(await column.count(), 0, 'no column without any customer');
      await page.goto('/console/subscriptions?new=1');
      await page.getByLabel('Callback URL').fill(`${on.receiver.url}/whose`);
      await page.getByLabel('Customer', { exact: true }).last().fill(' cus_1 ');
      await page.keyboard.press('Enter');
      const done = page.getByRole('dialog', { name: 'Subscription created' });
      await press(done, 'Done');
      const row = page.getByRole('row', { name: /\/whose/ });
      await row.getByRole('cell', { name: 'cus_1', exact: true }).waitFor();
      const filter = page.getByRole('search', { name: 'Filter subscriptions' });
      await filter.getByLabel('Customer').fill('cus_1');
      await page.keyboard.press('Enter');
      await shows(page, 'Matching subscriptions');
      await page.getByRole('row', { name: /\/nobody/ }).waitFor({ state: 'detached' });
      await row.waitFor();

      await page.goto('/console/events?publish=1&name=order.created');
      const form = page.getByRole('dialog', { name: 'Publish an event' });
      await form.getByLabel('Only for customer').fill('cus_1');
      await press(form, 'Publish');
      await shows(form, '1 delivered');
      await newCallbacks(1);
      await page.goto('/console/deliveries?customer=cus_1');
      await page.getByRole('cell', { name: 'cus_1', exact: true }).waitFor();
      assert.equal(await page.getByRole('row').count(), 2);
      await page.goto('/console/events?customer=cus_1');
      await page.getByRole('cell', { name: 'cus_1', exact: true }).waitFor();

      await page.keyboard.press('/');
      await page.keyboard.type('cus_1');
      await page.keyboard.press('Enter');
      const part = (name: string): Locator => page.getByRole('region', { name });
      await shows(part('Subscriptions of this customer'), /\/whose/);
      await shows(part('Events to this customer'), 'order.created');
      await shows(part('Deliveries to this customer'), 'Delivered');
      assert.equal(await part('with this subject').count(), 0);
      await part('Deliveries to this customer').getByRole('link', { name: 'order.' }).click();
      const delivery = page.getByRole('dialog', { name: 'Delivery' });
      await delivery.getByRole('tab', { name: 'Event' }).click();
      await delivery.getByRole('link', { name: 'subscriptions' }).click();
      await page.getByRole('link', { name: /\/whose/ }).click();
      await shows(drawer(page), 'cus_1');
      await press(drawer(page), 'Change settings');
      const settings = page.getByRole('dialog', { name: 'Change settings' });
      await settings.getByLabel('Customer').fill('cus_2');
      await press(settings, 'Save');
      await drawer(page).getByRole('link', { name: 'everything' }).click();
      await shows(part('Subscriptions of this customer'), /\/whose/);
      await shows(
        part('Events to this customer'),
        'No event was published to this customer alone.',
      );
      await part('Subscriptions of this customer')
        .getByRole('link', { name: /\/whose/ })
        .click();
      await press(drawer(page), 'Change settings');
      await settings.getByLabel('Customer').fill('');
      await press(settings, 'Save');
      await settings.waitFor({ state: 'detached' });
      await drawer(page).getByText('cus_2').waitFor({ state: 'detached' });
      await page.goto('/console/search?text=cus_2');
      await shows(page, 'Nothing found');
    });
  });

  it('of each customer are counted, with the health of their receivers', async () => {
    on.receiver.script = ({ url }) => (url.includes('/failing/failing') ? 500 : 200);
    const send = async (path: string, body: object): Promise<void> => {
      const answer = await on.service.call({ method: 'POST', path, body });
      assert.equal(Math.floor(answer.status / 100), 2, answer.text);
    };
    for (const customer of ['failing & co', 'working']) {
      const callbackUrl = `${on.receiver.url}/failing/${encodeURIComponent(customer)}`;
      const settings = { customer, events: ['counted'], retry: [] };
      await send('/subscribe', { callbackUrl, 'x-ringback': settings });
      await send('/events', { event: 'counted', customer, payload: { message: 'm' } });
    }
    await newCallbacks(2);
    await on.visit(async (page) => {
      await page.goto('/console/customers');
      const failing = page.getByRole('row', { name: 'failing & co' });
      await failing.getByRole('cell', { name: 'Failing', exact: true }).waitFor();
      const working = page.getByRole('row', { name: 'working' });
      await working.getByRole('cell', { name: 'Working', exact: true }).waitFor();
      await failing.getByRole('link', { name: 'View' }).click();
      await page.getByRole('cell', { name: 'failing & co', exact: true }).first().waitFor();
      await page.goto('/console/customers');
      await failing.getByRole('button', { name: 'Portal link for failing & co' }).click();
      const shown = page.getByRole('dialog', { name: 'Portal link' });
      const link = await shown.getByText('/portal#ticket=').textContent();
      await shown.getByRole('button', { name: 'Done' }).click();
      await page.goto(link ?? '');
      await page.getByText('/failing/failing').first().waitFor();
      await page.goto('/console/customers');
      await failing.getByRole('link', { name: 'failing & co' }).click();
      await shows(page, 'Matching subscriptions');
      await page.getByRole('row', { name: /failing\/failing/ }).waitFor();
      assert.equal(await page.getByRole('row', { name: /failing\/working/ }).count(), 0);
    });
  });

  it('offers a read-only key no actions that it may not perform', async () => {
    const id = await subscribe('read-only');
    const body = { name: 'reader', scopes: ['read'] };
    const { json } = await on.service.call({ method: 'POST', path: '/keys', body });
    await on.visit(
      async (page) => {
        await page.goto('/console/sign-in');
        await page.getByLabel('API key', { exact: true }).fill(String(json['key']));
        await page.keyboard.press('Enter');
        await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
        await page.goto(`/console/subscriptions?subscription=${id}`);
        await shows(drawer(page), 'sign in with a key that has the “subscribe” scope');
        const acts = /Pause|Ping|Unsubscribe|Change|secret/;
        assert.equal(await drawer(page).getByRole('button', { name: acts }).count(), 0);
        assert.equal(await page.getByText('New subscription').count(), 0);
      },
      { as: 'guest' },
    );
  });
});

function verify({ body, headers }: Received, secret: string): void {
  const signed = {
    'webhook-id': String(headers['webhook-id']),
    'webhook-timestamp': String(headers['webhook-timestamp']),
    'webhook-signature': String(headers['webhook-signature']),
  };
  new Webhook(secret).verify(body.toString(), signed);
}

async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 30; presses += 1) {
    const text = await page.evaluate(() => document.activeElement?.textContent ?? '');
    if (text === name) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Cannot reach "${name}" with the Tab key`);
}
