// Events about a subject: who receives them, which are refused and why, and what lists show of them.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { limits } from '../../src/core/limits/limits.ts';
import { receive, type Receiver } from '../e2e/receiver.ts';
import {
  get,
  onlyDelivery,
  quiet,
  subscribe,
  until,
  type Accepted,
  type Page,
} from '../e2e/stage.ts';
import { subjectStore } from '../subject-store.ts';
import { start, type Answer, type Started } from './harness.ts';

interface EventView {
  id: string;
  subject?: string;
}

const opened = subjectStore();
let service: Started;
let receiver: Receiver;
before(async () => {
  receiver = await receive();
  service = await start({ openStore: opened.openStore });
});
after(async () => {
  await service[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

/** Subscribes to events of this name. */
async function subscribeTo(event: string, adding: typeof opened.adding = {}): Promise<string> {
  Object.assign(opened.adding, { subject: undefined, confirmByMs: undefined, ...adding });
  const { id } = await subscribe(service, { callbackUrl: `${receiver.url}/${event}`, event });
  return id;
}

async function post(path: string, body: object, key?: string): Promise<Answer> {
  const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key };
  return service.call({ method: 'POST', path, body, headers });
}

async function publish(body: object): Promise<Accepted> {
  const answer = await post('/events', { payload: { message: 'hello' }, ...body });
  assert.equal(answer.status, 202, answer.text);
  return answer.json as unknown as Accepted;
}

async function reached(body: object): Promise<number | null> {
  return (await publish(body)).deliveries;
}

/** Status, code, and the fields that are wrong. */
function refusal({ status, json }: Answer): unknown[] {
  const errors = (json['errors'] ?? []) as { field: string }[];
  return [status, json['code'], ...errors.map(({ field }) => field)];
}

const payload = { message: 'hello' };

describe('the subject of an event', () => {
  it('selects the subscriptions with this subject, and those without one', async () => {
    const event = 'selected';
    await subscribeTo(event, { subject: 'job_17' });
    await subscribeTo(event, { subject: 'job_18' });
    await subscribeTo(event);
    assert.equal(await reached({ event, subject: 'job_17' }), 2);
    assert.equal(await reached({ event, subject: 'job_19' }), 1);
    assert.equal(await reached({ event, audience: 'all' }), 3);
    const events = ['job_18', 'job_19'].map((subject) => ({ event, payload, subject }));
    const { json } = await post('/events/batch', { events });
    assert.deepEqual(
      (json['items'] as Accepted[]).map(({ deliveries }) => deliveries),
      [2, 1],
    );
    await quiet(service);
  });

  it('is required if a matching subscription has one', async () => {
    const event = 'required';
    await subscribeTo(event, { subject: 'job_17' });
    const one = await post('/events', { event, payload });
    assert.deepEqual(refusal(one), [422, 'subject_missing', 'body#/subject']);
    assert.match(String(one.json['detail']), /"required".*or send "audience": "all"/);
    const second = [
      { event, payload, subject: 'job_17' },
      { event, payload },
    ];
    for (const [events, field] of [
      [second, 'body#/events/1/subject'],
      [[{ event, payload }], 'body#/events/0/subject'],
    ] as const) {
      const batch = await post('/events/batch', { events });
      assert.deepEqual(refusal(batch), [422, 'subject_missing', field]);
    }
    assert.deepEqual((await get<Page<EventView>>(service, `/events?event=${event}`)).items, []);
  });

  it('is shown with the event, also if it came from the subscription', async () => {
    const event = 'shown';
    const subscriberId = await subscribeTo(event, { subject: 'job_17' });
    const named = await publish({ event, subject: 'Auftrag "17" ü\n' });
    const addressed = await publish({ event, subscriberId });
    const toAll = await publish({ event, audience: 'all' });
    const { items } = await get<Page<EventView>>(service, `/events?event=${event}`);
    const shown = new Map(items.map(({ id, subject }) => [id, subject]));
    for (const [{ eventId }, subject] of [
      [named, 'Auftrag "17" ü\n'],
      [addressed, 'job_17'],
      [toAll, undefined],
    ] as const) {
      assert.equal(shown.get(eventId), subject);
      assert.equal((await get<EventView>(service, `/events/${eventId}`)).subject, subject);
    }
    assert.equal(named.deliveries, 0);
    await onlyDelivery(service, addressed);
    await onlyDelivery(service, toAll);
  });

  it('does not reach an addressed subscription of another subject', async () => {
    const event = 'addressed';
    const subscriberId = await subscribeTo(event, { subject: 'job_17' });
    assert.equal(await reached({ event, subscriberId, subject: 'job_17' }), 1);
    assert.equal(await reached({ event, subscriberId, subject: 'job_18' }), 0);
  });

  it('has 1 to 256 characters', async () => {
    const most = 'ü'.repeat(limits.subjectCharsMax);
    await publish({ event: 'lengths', subject: most });
    for (const subject of ['', `${most}x`, 'a\0', 'a\ud800', 17, null]) {
      const event = { event: 'lengths', payload, subject };
      const one = refusal(await post('/events', event));
      assert.deepEqual(one, [400, 'invalid_request', 'body#/subject'], JSON.stringify(subject));
      const many = refusal(await post('/events/batch', { events: [event] }));
      assert.deepEqual(many, [400, 'invalid_request', 'body#/events/0/subject']);
    }
  });

  it('contradicts an audience of all, and that contradicts an addressee', async () => {
    const event = 'contradictory';
    const subscriberId = await subscribeTo(event);
    const all = { audience: 'all' };
    const [plain, about] = [
      { event, payload },
      { event, payload, subject: 'job_17' },
    ];
    for (const [path, body, field] of [
      ['/events', { ...about, ...all }, 'body#/subject'],
      ['/events', { ...plain, ...all, subscriberId }, 'body#/audience'],
      ['/events/batch', { events: [plain, about], ...all }, 'body#/events/1/subject'],
      ['/events/batch', { events: [plain], ...all, subscriberId }, 'body#/audience'],
    ] as const) {
      assert.deepEqual(refusal(await post(path, body)), [422, 'audience_conflict', field]);
    }
    for (const [path, body, field] of [
      ['/events', { ...plain, audience: 'some' }, 'body#/audience'],
      ['/events/batch', { events: [{ ...plain, ...all }] }, 'body#/events/0/audience'],
    ] as const) {
      assert.deepEqual(refusal(await post(path, body)), [400, 'invalid_request', field]);
    }
  });

  it('belongs to the request that an idempotency key stands for, and so does the audience', async () => {
    const event = { event: 'keyed', payload };
    const first = await post('/events', { ...event, subject: 'job_17' }, 'keyed-1');
    const again = await post('/events', { ...event, subject: 'job_17' }, 'keyed-1');
    assert.deepEqual([again.status, again.text], [202, first.text]);
    for (const other of [{ subject: 'job_18' }, { audience: 'all' }, {}]) {
      const refused = await post('/events', { ...event, ...other }, 'keyed-1');
      assert.equal(refused.json['code'], 'idempotency_mismatch');
    }
  });
});

async function view(id: string): Promise<Record<string, unknown>> {
  return get<Record<string, unknown>>(service, `/subscriptions/${id}`);
}

async function listed(query: string): Promise<unknown[]> {
  const { items } = await get<Page<{ id: string }>>(service, `/subscriptions?${query}`);
  return items.map(({ id }) => id);
}

describe('an unconfirmed subscription', () => {
  const unconfirmed = async (event: string, subject?: string): Promise<string> =>
    subscribeTo(event, { confirmByMs: Date.now() + limits.confirmWithinMs, subject });

  it('receives nothing until a publish names it, by its subject or its id', async () => {
    const event = 'unconfirmed';
    await unconfirmed(event, 'job_17');
    const subscriberId = await unconfirmed(event);
    assert.equal(await reached({ event, subject: 'job_18' }), 0);
    assert.equal(await reached({ event, subject: 'job_17' }), 1);
    assert.equal(await reached({ event, subscriberId }), 1);
    assert.equal(await reached({ event, subject: 'job_17' }), 2);
    await quiet(service);
  });

  it('is listed as such, and says until when it can be confirmed', async () => {
    const id = await unconfirmed('listed', 'job_31');
    const shown = await view(id);
    assert.deepEqual([shown['state'], shown['subject']], ['unconfirmed', 'job_31']);
    const leftMs = Date.parse(String(shown['confirmBy'])) - Date.parse(String(shown['createdAt']));
    assert.ok(leftMs > 0 && leftMs <= limits.confirmWithinMs);
    assert.deepEqual(await listed('state=unconfirmed&subject=job_31'), [id]);
    const active = await subscribeTo('listed.active', { subject: 'job_31' });
    assert.deepEqual(await listed('state=unconfirmed&subject=job_31'), [id]);
    assert.deepEqual(await listed('state=active&subject=job_31'), [active]);
    await service.call({ method: 'DELETE', path: `/subscriptions/${active}` });
    assert.deepEqual(await listed('state=ended&subject=job_31'), [active]);
    assert.deepEqual(await listed('state=paused&subject=job_31'), []);
    assert.deepEqual(await listed('subject=job_3'), []);
    const other = await unconfirmed('listed.too', 'job_31');
    assert.deepEqual(await listed('subject=job_31'), [other, active, id]);
    assert.deepEqual(await listed('subject=job_31&event=listed'), [id]);
    assert.deepEqual(await listed('subject=job_31&url=listed.too'), [other]);
    const first = await get<Page<unknown>>(service, '/subscriptions?subject=job_31&limit=1');
    assert.deepEqual(await listed(`subject=job_31&cursor=${first.nextCursor}`), [active, id]);
  });

  it('cannot be changed, and ends by a request', async () => {
    const id = await unconfirmed('changed');
    const body = { state: 'paused' };
    const change = await service.call({ method: 'PATCH', path: `/subscriptions/${id}`, body });
    assert.deepEqual(refusal(change), [409, 'conflict']);
    assert.match(String(change.json['detail']), /it is unconfirmed\. Confirm it first/);
    await service.call({ method: 'DELETE', path: `/subscriptions/${id}` });
    const { state, endReason, confirmBy } = await view(id);
    assert.deepEqual([state, endReason, confirmBy], ['ended', 'unsubscribed', undefined]);
  });

  it('cannot be pinged, which would prove nothing', async () => {
    const id = await unconfirmed('pinged');
    const refused = await post(`/subscriptions/${id}/ping`, {});
    assert.deepEqual(refusal(refused), [409, 'conflict']);
  });
});

describe('POST /subscriptions/{id}/confirm', () => {
  const confirm = async (id: string): Promise<Answer> => post(`/subscriptions/${id}/confirm`, {});

  it('makes it active, and changes nothing the second time', async () => {
    const event = 'confirmed';
    const id = await subscribeTo(event, { confirmByMs: Date.now() + limits.confirmWithinMs });
    assert.equal(await reached({ event }), 0);
    const first = await confirm(id);
    assert.equal(first.status, 200, first.text);
    assert.deepEqual([first.json['state'], first.json['confirmBy']], ['active', undefined]);
    assert.equal(await reached({ event }), 1);
    assert.equal((await confirm(id)).text, first.text);
    await service.call({
      method: 'PATCH',
      path: `/subscriptions/${id}`,
      body: { state: 'paused' },
    });
    assert.equal((await confirm(id)).json['state'], 'paused');
  });

  it('gives one with a subject a time to end', async () => {
    const id = await subscribeTo('expiring', {
      subject: 'job_17',
      confirmByMs: Date.now() + limits.confirmWithinMs,
    });
    const { json } = await confirm(id);
    assert.ok(Date.parse(String(json['expiresAt'])) > Date.now() + limits.confirmWithinMs);
  });

  it('is 409 if it has ended, and 404 if it is unknown', async () => {
    const id = await subscribeTo('ended');
    await service.call({ method: 'DELETE', path: `/subscriptions/${id}` });
    assert.deepEqual(refusal(await confirm(id)), [409, 'conflict']);
    for (const unknown of [`sub_${'0'.repeat(26)}`, 'sub_1', 'evt_1']) {
      assert.deepEqual(refusal(await confirm(unknown)), [404, 'not_found']);
    }
  });
});

describe('the filter subject', () => {
  let ids: Record<string, Accepted>;
  const event = 'found.done';
  before(async () => {
    await subscribeTo(event);
    await subscribeTo(event, { subject: 'found_1' });
    ids = {
      one: await publish({ event, subject: 'found_1' }),
      other: await publish({ event, subject: 'found_2' }),
      more: await publish({ event: 'found.begun', subject: 'found_1' }),
      none: await publish({ event: 'found.begun' }),
    };
    await quiet(service);
  });

  const eventIds = async (path: string, name: 'id' | 'eventId'): Promise<unknown[]> => {
    const { items } = await get<Page<Record<string, unknown>>>(service, path);
    return items.map((item) => item[name]);
  };

  it('finds the events of a subject', async () => {
    const list = async (query: string): Promise<unknown[]> => eventIds(`/events?${query}`, 'id');
    const { one, other, more } = ids;
    assert.deepEqual(await list('subject=found_1'), [more?.eventId, one?.eventId]);
    assert.deepEqual(await list(`subject=found_1&event=${event}`), [one?.eventId]);
    assert.deepEqual(await list('subject=found_2'), [other?.eventId]);
    assert.deepEqual(await list('subject=found'), []);
    assert.deepEqual(await list('subject=found_1&until=2020-01-01T00:00:00Z'), []);
    const first = await get<Page<EventView>>(service, '/events?subject=found_1&limit=1');
    const rest = await list(`subject=found_1&cursor=${first.nextCursor}`);
    assert.deepEqual(rest, [one?.eventId]);
  });

  it('finds the deliveries of the events, which show it', async () => {
    const list = async (query: string): Promise<unknown[]> =>
      eventIds(`/deliveries?${query}`, 'eventId');
    const { one, other } = ids;
    assert.deepEqual(await list('subject=found_1'), [one?.eventId, one?.eventId]);
    assert.deepEqual(await list(`subject=found_2&state=delivered`), [other?.eventId]);
    assert.deepEqual(await list(`subject=found_2&eventId=${other?.eventId}`), [other?.eventId]);
    assert.deepEqual(await list(`subject=found_1&eventId=${other?.eventId}`), []);
    assert.deepEqual(await list('subject=found_1&state=dead'), []);
    const page = await get<Page<EventView>>(service, '/deliveries?subject=found_1');
    assert.deepEqual(new Set(page.items.map(({ subject }) => subject)), new Set(['found_1']));
    const [shown] = page.items;
    const path = `/deliveries/${shown?.id}`;
    assert.equal((await get<EventView>(service, path)).subject, 'found_1');
  });

  it('selects what a replay sends again', async () => {
    const filter = { state: 'delivered', subject: 'found_1' };
    const counted = await post('/replays', { filter, dryRun: true });
    assert.deepEqual(counted.json, { matched: 2, isCapped: false });
    const other = { ...filter, subject: 'found_2', event: 'found.begun' };
    assert.equal((await post('/replays', { filter: other, dryRun: true })).json['matched'], 0);
    const { json } = await post('/replays', { filter });
    assert.deepEqual((json['filter'] as { subject: string }).subject, 'found_1');
    const done = await until(
      async () => get<Record<string, unknown>>(service, `/replays/${String(json['id'])}`),
      ({ state }) => state === 'done',
    );
    assert.equal(done['replayed'], 2);
    await quiet(service);
  });

  it('is refused where it cannot be a subject', async () => {
    for (const path of ['/events?subject=', `/deliveries?subject=${'x'.repeat(257)}`]) {
      const answer = await service.call({ path });
      assert.deepEqual(refusal(answer), [400, 'invalid_request', 'query.subject']);
    }
  });
});
