import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import {
  createReceiver,
  ForgeryError,
  gone,
  rememberIds,
  type Callback,
  type Handler,
  type Receiver,
  type ReceiverOptions,
  type SeenIds,
} from './receiver.ts';

const key = Buffer.alloc(32, 7);
const secret = `whsec_${key.toString('base64')}`;
const nowS = 1_800_000_000;

interface Given {
  headers: Record<string, string>;
  body: Buffer;
}

function callback(id = 'evt_1', body: string | Uint8Array = '{"a":"é"}'): Given {
  const bytes = Buffer.from(body);
  const mac = createHmac('sha256', key).update(`${id}.${nowS}.`).update(bytes).digest('base64');
  return {
    headers: {
      'webhook-id': id,
      'webhook-timestamp': String(nowS),
      'webhook-signature': `v1,${mac}`,
      'ringback-event': 'order.paid',
      'ringback-subscription': 'sub_1',
      'ringback-delivery': 'dlv_1',
      'ringback-attempt': '2',
      'ringback-hops': '3',
    },
    body: bytes,
  };
}

function request({ headers, body }: Given): Request {
  return new Request('http://127.0.0.1/', { method: 'POST', headers, body: Uint8Array.from(body) });
}

/** A receiver, and what it reports. */
function create(options: Partial<ReceiverOptions> = {}): { receiver: Receiver; told: unknown[] } {
  const told: unknown[] = [];
  const report = (error: unknown): void => void told.push(error);
  return { receiver: createReceiver({ secret, now: () => nowS * 1000, report, ...options }), told };
}

const nothing: Handler = () => undefined;

describe('verify', () => {
  it('decodes the name of the event, and refuses one that cannot be decoded', async () => {
    const { receiver } = create();
    const named = (event: string): Given => {
      const given = callback();
      return { ...given, headers: { ...given.headers, 'ringback-event': event } };
    };
    assert.equal((await receiver.verify(named('a%20%F0%9F%98%80'))).event, 'a 😀');
    assert.equal((await receiver.verify(named('%F0%9F%98%80'.repeat(256)))).event?.length, 512);
    for (const event of ['50%', '%ff', 'a b', 'e'.repeat(3_073)]) {
      await assert.rejects(receiver.verify(named(event)), { code: 'header_malformed' });
    }
  });

  it('returns what was sent: the signed parts, the others, and the body as bytes, text and value', async () => {
    const { id, timestampMs, body, text, json, ...rest } =
      await create().receiver.verify(callback());
    assert.deepEqual([id, timestampMs], ['evt_1', nowS * 1000]);
    assert.equal(Buffer.from(body).toString(), '{"a":"é"}');
    assert.deepEqual([text(), json()], ['{"a":"é"}', { a: 'é' }]);
    assert.deepEqual(rest, {
      event: 'order.paid',
      subscription: 'sub_1',
      delivery: 'dlv_1',
      attempt: 2,
      hops: 3,
    });
  });

  it('needs only what Standard Webhooks specifies', async () => {
    const { headers, body } = callback();
    const few = Object.entries(headers).filter(([name]) => name.startsWith('webhook-'));
    const given = await create().receiver.verify({ headers: Object.fromEntries(few), body });
    assert.deepEqual([given.event, given.attempt, given.hops], [undefined, undefined, undefined]);
  });

  it('accepts Headers, names in any case, and text instead of bytes', async () => {
    const { receiver } = create();
    const { headers, body } = callback();
    const shouted = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
    );
    await receiver.verify({ headers: new Headers(headers), body });
    await receiver.verify({ headers: shouted, body: body.toString() });
  });

  it('returns a copy, so that what was verified cannot change afterwards', async () => {
    const given = callback();
    const { body } = await create().receiver.verify(given);
    given.body.fill(0);
    assert.equal(Buffer.from(body).toString(), '{"a":"é"}');
  });

  it('refuses text with a lone surrogate, which would be verified as another character', async () => {
    const { headers } = callback('evt_1', '"\ufffd"');
    const { receiver } = create();
    await receiver.verify({ headers, body: '"\ufffd"' });
    await assert.rejects(receiver.verify({ headers, body: '"\ud800"' }), ForgeryError);
  });

  it('explains the error when a program passes a parsed body, or none', async () => {
    const { headers } = callback();
    for (const json of ['{"a":1}', '[1]', 'null', '7', 'true']) {
      await assert.rejects(
        create().receiver.verify({ headers, body: JSON.parse(json) }),
        /^TypeError: Cannot verify a body that was already parsed: it is of type (\w+), expected/,
      );
    }
  });

  it('throws on text() or json() if the bytes are not UTF-8 or JSON', async () => {
    const { receiver } = create();
    const binary = await receiver.verify(callback('evt_1', Buffer.of(0x80, 0xff)));
    assert.deepEqual([...binary.body], [0x80, 0xff]);
    assert.throws(() => binary.text(), TypeError);
    assert.throws(() => binary.json(), TypeError);
  });

  it('accepts timestamps exactly at the tolerance, by the given clock', async () => {
    const verdict = async (offsetMs: number, toleranceS = 300): Promise<string> => {
      const { receiver } = create({ now: () => nowS * 1000 + offsetMs, toleranceS });
      return receiver.verify(callback()).then(
        () => 'accepted',
        (error: unknown) => (error instanceof ForgeryError ? error.code : String(error)),
      );
    };
    assert.deepEqual(
      [await verdict(300_999), await verdict(301_000), await verdict(-300_000)],
      ['accepted', 'too_old', 'accepted'],
    );
    assert.equal(await verdict(-300_001), 'too_new');
    assert.deepEqual([await verdict(0, 0), await verdict(1_000, 0)], ['accepted', 'too_old']);
    assert.equal(await verdict(Number.NaN), 'too_old');
  });

  it('accepts each of several secrets, wherever its signature is', async () => {
    const other = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
    const { headers, body } = callback();
    const several = `v1,${Buffer.alloc(32).toString('base64')} v2,x ${headers['webhook-signature']}`;
    const given = { headers: { ...headers, 'webhook-signature': several }, body };
    for (const secrets of [[secret, other], [other, secret], [secret]]) {
      await create({ secret: secrets }).receiver.verify(given);
    }
    await assert.rejects(create({ secret: [other] }).receiver.verify(given), ForgeryError);
  });

  it('uses the clock of the platform by default', async (t) => {
    t.mock.method(Date, 'now', () => nowS * 1000);
    await createReceiver({ secret }).verify(callback());
  });
});

describe('createReceiver', () => {
  it('refuses options that would disable a check', () => {
    const refused: Partial<ReceiverOptions>[] = [
      { toleranceS: Infinity },
      { toleranceS: Number.NaN },
      { toleranceS: -1 },
      { bodyBytesMax: Infinity },
      { acceptedStatus: 300 },
      { acceptedStatus: 199 },
    ];
    for (const options of refused) assert.throws(() => create(options), TypeError);
    assert.throws(() => rememberIds({ max: 0 }), TypeError);
    assert.throws(() => rememberIds({ max: Infinity }), TypeError);
  });
});

describe('handle', () => {
  const answered = async (
    handler: Handler,
    options: Partial<ReceiverOptions> = {},
  ): Promise<number> =>
    (await create(options).receiver.handle(request(callback()), handler)).status;

  it('answers 200 or the configured status for nothing, 410 for gone() and 500 for an exception', async () => {
    assert.equal(await answered(nothing), 200);
    assert.equal(await answered(nothing, { acceptedStatus: 204 }), 204);
    assert.equal(await answered(() => gone()), 410);
    assert.equal(await answered(async () => gone()), 410);
    assert.equal(await answered(async () => Promise.reject(new Error('no'))), 500);
  });

  it('reports what the handler threw, and answers without details', async () => {
    const { receiver, told } = create();
    const response = await receiver.handle(request(callback()), () => {
      throw new Error('the database is away');
    });
    assert.deepEqual([response.status, await response.text()], [500, '']);
    assert.match(String(told), /the database is away/);
  });

  it('refuses a Response from the handler, which would be ignored', async () => {
    const { receiver, told } = create();
    const wrong: unknown = () => new Response(null, { status: 503 });
    const response = await receiver.handle(request(callback()), wrong as Handler);
    assert.equal(response.status, 500);
    assert.match(String(told), /its status is 503\. Expected nothing/);
  });

  it('answers even if the report throws', async (t) => {
    const shown = t.mock.method(console, 'error', () => undefined);
    const report = (): void => {
      throw new Error('the log is full');
    };
    const { receiver } = create({ report });
    const { status } = await receiver.handle(request(callback()), () => {
      throw new Error('x');
    });
    assert.deepEqual([status, shown.mock.callCount()], [500, 1]);
  });

  it('logs to the console why it refused, by default', async (t) => {
    const shown = t.mock.method(console, 'warn', () => undefined);
    const receiver = createReceiver({ secret, now: () => nowS * 1000 });
    const { headers } = callback();
    await receiver.handle(request({ headers, body: Buffer.from('{}') }), nothing);
    assert.match(String(shown.mock.calls[0]?.arguments), /rejected \(signature_wrong\)/);
  });

  it('answers 413 while the body is still arriving, and reads no further', async () => {
    const { receiver, told } = create({ bodyBytesMax: 100 });
    let pulled = 0;
    let isCancelled = false;
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        pulled += 1;
        controller.enqueue(new Uint8Array(60));
      },
      cancel: () => void (isCancelled = true),
    });
    const { headers } = callback();
    const init = { method: 'POST', headers, body: endless, duplex: 'half' as const };
    const { status } = await receiver.handle(new Request('http://127.0.0.1/', init), nothing);
    assert.equal(status, 413);
    assert.ok(isCancelled && pulled <= 4, `${pulled} pulled`);
    assert.ok(told[0] instanceof ForgeryError && told[0].code === 'body_too_large');
  });

  it('accepts a body of exactly the limit, and not a byte more', async () => {
    const { receiver } = create({ bodyBytesMax: 10 });
    const statusFor = async (size: number): Promise<number> =>
      (await receiver.handle(request(callback('evt_1', 'x'.repeat(size))), nothing)).status;
    assert.deepEqual([await statusFor(10), await statusFor(11)], [200, 413]);
    await assert.rejects(receiver.verify(callback('evt_1', 'x'.repeat(11))), ForgeryError);
    assert.equal(await receiver.answer(callback('evt_1', 'x'.repeat(11)), nothing), 413);
  });

  it('refuses by the headers alone, before it reads any of the body', async () => {
    const { receiver } = create();
    let isRead = false;
    const body = new ReadableStream<Uint8Array>(
      { pull: () => void (isRead = true) },
      { highWaterMark: 0 },
    );
    const init = { method: 'POST', body, duplex: 'half' as const };
    const { status } = await receiver.handle(new Request('http://127.0.0.1/', init), nothing);
    assert.deepEqual([status, isRead], [401, false]);
  });

  it('explains what to do when the body was already read', async () => {
    const { receiver, told } = create();
    const used = request(callback());
    await used.text();
    assert.equal((await receiver.handle(used, nothing)).status, 500);
    assert.match(String(told), /was already read/);
  });

  it('accepts a callback without a body', async () => {
    const { headers } = callback('evt_1', '');
    const bare = new Request('http://127.0.0.1/', { method: 'POST', headers });
    assert.equal((await create().receiver.handle(bare, nothing)).status, 200);
  });

  it('refuses a body that is cut off', async () => {
    const { receiver, told } = create();
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.error(new Error('reset')),
    });
    const { headers } = callback();
    const init = { method: 'POST', headers, body, duplex: 'half' as const };
    const { status } = await receiver.handle(new Request('http://127.0.0.1/', init), nothing);
    assert.equal(status, 401);
    assert.ok(told[0] instanceof ForgeryError && told[0].code === 'body_cut');
  });
});

describe('answer', () => {
  it('accepts bytes, and explains what to do with anything else', async () => {
    const { receiver, told } = create();
    const { headers, body } = callback();
    assert.equal(await receiver.answer({ headers, body }, nothing), 200);
    for (const parsed of [JSON.parse(body.toString()), body.toString()]) {
      assert.equal(await receiver.answer({ headers, body: parsed }, nothing), 500);
      assert.match(String(told.at(-1)), /express\.raw.*Fastify: addContentTypeParser/);
    }
  });
});

describe('seen', () => {
  /** Counts its calls; each ends when the test says so. */
  function slowHandler(): { handler: Handler; calls: PromiseWithResolvers<void>[] } {
    const calls: PromiseWithResolvers<void>[] = [];
    const handler = async (): Promise<void> => {
      const call = Promise.withResolvers<void>();
      calls.push(call);
      return call.promise;
    };
    return { handler, calls };
  }

  const ids = async (
    receiver: Receiver,
    list: readonly string[],
    handler: Handler,
  ): Promise<number[]> => {
    const statuses: number[] = [];
    for (const id of list) statuses.push(await receiver.answer(callback(id), handler));
    return statuses;
  };

  it('accepts an event that was handled without calling the handler again', async () => {
    const { receiver } = create({ seen: rememberIds() });
    const handled: string[] = [];
    const handler = ({ id }: Callback): void => void handled.push(id);
    assert.deepEqual(await ids(receiver, ['a', 'a', 'b', 'a'], handler), [200, 200, 200, 200]);
    assert.deepEqual(handled, ['a', 'b']);
  });

  it('does not count an event whose handler failed', async () => {
    const { receiver } = create({ seen: rememberIds() });
    let calls = 0;
    const handler = (): void => {
      calls += 1;
      if (calls === 1) throw new Error('not now');
    };
    assert.deepEqual(await ids(receiver, ['a', 'a', 'a'], handler), [500, 200, 200]);
    assert.equal(calls, 2);
  });

  it('calls the handler again after gone()', async () => {
    const { receiver } = create({ seen: rememberIds() });
    assert.deepEqual(await ids(receiver, ['a', 'a'], () => gone()), [410, 410]);
  });

  it('handles two simultaneous copies once: both are answered when it is done', async () => {
    const { receiver } = create({ seen: rememberIds() });
    const { handler, calls } = slowHandler();
    const both = ['a', 'a'].map(async (id) => receiver.answer(callback(id), handler));
    const other = receiver.answer(callback('b'), handler);
    while (calls.length < 2) await new Promise(setImmediate);
    for (const call of calls) call.resolve();
    assert.deepEqual([await Promise.all(both), await other], [[200, 200], 200]);
    assert.equal(calls.length, 2, 'one for each event');
  });

  it('never remembers what was not verified', async () => {
    const asked: string[] = [];
    const seen: SeenIds = { has: (id) => asked.push(id) > 0, remember: (id) => asked.push(id) };
    const { receiver } = create({ seen });
    const { headers } = callback();
    assert.equal(await receiver.answer({ headers, body: Buffer.from('{}') }, nothing), 401);
    assert.deepEqual(asked, []);
  });

  it('forgets the oldest when there are too many', async () => {
    const seen = rememberIds({ max: 2 });
    for (const id of ['a', 'b', 'a', 'c']) seen.remember(id);
    assert.deepEqual(
      ['a', 'b', 'c'].map((id) => seen.has(id)),
      [true, false, true],
    );
  });

  it('is asked before the handler: if it fails, nothing is handled and the callback comes again', async () => {
    const has = async (): Promise<boolean> => Promise.reject(new Error('the store is away'));
    const { receiver, told } = create({ seen: { has, remember: () => undefined } });
    let calls = 0;
    const status = await receiver.answer(callback(), () => void (calls += 1));
    assert.deepEqual([status, calls, told.length], [500, 0, 1]);
  });

  it('accepts an event that cannot be remembered, and reports the failure', async () => {
    const remember = async (): Promise<void> => Promise.reject(new Error('the store is away'));
    const { receiver, told } = create({ seen: { has: () => false, remember } });
    assert.equal(await receiver.answer(callback(), nothing), 200);
    assert.match(String(told), /the store is away/);
  });
});
