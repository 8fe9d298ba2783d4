// Ours and the public packages, on the same callbacks: they agree, except where ours is stricter, and each
// such place is listed here with its reason.
import assert from 'node:assert/strict';
import { createPublicKey, verify } from 'node:crypto';
import { after, describe, it, mock } from 'node:test';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { createReceiver, ForgeryError } from '../../src/receiver/receiver.ts';
import { fc, seed } from '../fast-check.ts';
import { cases, type Case } from './random-cases.ts';
import {
  ed25519Signer,
  facts,
  genuine,
  hmacSigner,
  nowS,
  signatureOf,
  type Given,
  type Signer,
} from './genuine-callbacks.ts';

const own = hmacSigner(1);
const foreign = hmacSigner(2);
const standard = new StandardWebhook(own.secret);
const svix = new SvixWebhook(own.secret);
let clockMs = nowS * 1000;
const receiver = createReceiver({ secret: own.secret, now: () => clockMs });

/** The packages ask the clock of the process. */
const clock = mock.method(Date, 'now', () => clockMs);
after(() => clock.mock.restore());

type Verdict = 'accepts' | 'rejects';

function theirs(verifier: StandardWebhook | SvixWebhook, { headers, body }: Given): Verdict {
  const plain = Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)]],
    ),
  );
  try {
    // It parses what it has accepted, unless told not to; svix never does.
    verifier.verify(Buffer.from(body), plain, { jsonParse: false });
    return 'accepts';
  } catch {
    return 'rejects';
  }
}

async function ours(
  { headers, body }: { headers: Given['headers']; body: Uint8Array | string },
  by = receiver,
): Promise<Verdict> {
  return by.verify({ headers, body }).then(
    () => 'accepts',
    (error: unknown) => {
      assert(error instanceof ForgeryError, String(error));
      return 'rejects';
    },
  );
}

/** They look at the text that Node makes of the bytes: the same to us, where they are UTF-8. */
function asTheySee(body: Uint8Array): string {
  return Buffer.from(body).toString();
}

/** Where ours is stricter on purpose, said without our code: the second test has one of each. */
function isOdd({ headers }: Given): boolean {
  const id = String(headers['webhook-id']);
  const time = String(headers['webhook-timestamp']);
  const signatures = String(headers['webhook-signature']).split(' ');
  const isPlainId = Array.from(id).every((c) => c > ' ' && c <= '~' && c !== '.' && c !== ',');
  const isPlainTime = String(Number(time)) === time && Number.isInteger(Number(time));
  const arePlain = signatures.every((one) => /^v[a-z0-9]+,[^,\s]+$/.test(one));
  return !isPlainId || !isPlainTime || !arePlain;
}

/** Draws so many, and compares some at a time: one by one they would wait for threads most of the time. */
async function forRandom(
  { count, of: [signer, other] }: { count: number; of: readonly [Signer, Signer] },
  compare: (drawn: Case) => Promise<void>,
): Promise<void> {
  const drawn = fc.sample(cases(signer, other), { numRuns: count, seed });
  for (let at = 0; at < drawn.length; at += 100) {
    const verdicts = drawn.slice(at, at + 100).map(async (one, index) => {
      await compare(one).catch((cause: unknown) => {
        const says = `SEED=${seed}, number ${at + index}: ${JSON.stringify(one)}`;
        throw new Error(says, { cause });
      });
    });
    await Promise.all(verdicts);
  }
}

const agreed = 10_000;

describe('standardwebhooks and ours', () => {
  it(`agree on ${agreed} random callbacks, and of odd ones ours never takes more`, async () => {
    const counts = { accepts: 0, rejects: 0, odd: 0 };
    // Odd ones come on top: the ten thousand are of those where both must say the same.
    await forRandom({ count: agreed * 1.15, of: [own, foreign] }, async ({ given, nowMs }) => {
      clockMs = nowMs;
      const their = theirs(standard, given);
      const our = await ours({ headers: given.headers, body: asTheySee(given.body) });
      counts[isOdd(given) ? 'odd' : their] += 1;
      if (!isOdd(given)) assert.equal(our, their);
      else assert.ok(our === 'rejects' || their === 'accepts', 'ours takes what theirs refuses');
    });
    assert.ok(counts.accepts + counts.rejects >= agreed, JSON.stringify(counts));
    assert.ok(Math.min(counts.accepts, counts.rejects) > agreed / 5, JSON.stringify(counts));
    assert.ok(counts.odd > agreed / 100, JSON.stringify(counts));
  });
});

describe('svix and ours', () => {
  it('agree on 500 random callbacks', async () => {
    await forRandom({ count: 500, of: [own, foreign] }, async ({ given, nowMs }) => {
      clockMs = nowMs;
      if (isOdd(given)) return;
      const their = theirs(svix, given);
      assert.equal(await ours({ headers: given.headers, body: asTheySee(given.body) }), their);
    });
  });
});

describe('node:crypto and ours', () => {
  const pair = ed25519Signer(1);
  const byKey = createReceiver({ secret: pair.secret, now: () => clockMs });
  const x = pair.raw.toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });

  function nodes({ headers, body }: Given): Verdict {
    const [id, time, signatures = ''] = ['id', 'timestamp', 'signature'].map((name) =>
      String(headers[`webhook-${name}`]),
    );
    if (Math.abs(Math.floor(clockMs / 1000) - Number(time)) > 300) return 'rejects';
    const signed = Buffer.concat([Buffer.from(`${id}.${time}.`), body]);
    const isGood = signatures.split(' ').some((one) => {
      if (!one.startsWith('v1a,')) return false;
      // Node reads more spellings of base64 than an encoder writes, and with it one signature has many.
      const raw = Buffer.from(one.slice('v1a,'.length), 'base64');
      return one === `v1a,${raw.toString('base64')}` && verify(null, signed, key, raw);
    });
    return isGood ? 'accepts' : 'rejects';
  }

  it('agree on 300 random callbacks signed with Ed25519, whatever bytes they have', async () => {
    const counts = { accepts: 0, rejects: 0 };
    await forRandom({ count: 300, of: [pair, ed25519Signer(2)] }, async ({ given, nowMs }) => {
      clockMs = nowMs;
      const their = nodes(given);
      const our = await ours(given, byKey);
      counts[our] += 1;
      if (!isOdd(given)) assert.equal(our, their);
      else assert.ok(our === 'rejects' || their === 'accepts', 'ours takes what node refuses');
    });
    assert.ok(Math.min(counts.accepts, counts.rejects) > 50, JSON.stringify(counts));
  });
});

describe('where standardwebhooks accepts and ours does not', () => {
  const now = String(nowS);
  const good = signatureOf(own);
  const withHeader = (name: string, value: string): Given => {
    const { headers, body } = genuine(own);
    return { headers: { ...headers, [name]: value }, body };
  };
  const time = (value: string): Given => withHeader('webhook-timestamp', value);
  const signature = (value: string): Given => withHeader('webhook-signature', value);
  const withId = (id: string): Given => genuine(own, { id });

  // They read the time as parseInt does and sign what came out, so one signature has many spellings of
  // its time: whoever compares or logs the header sees another one than was verified.
  const differences: Readonly<Record<string, Given>> = {
    'a time with letters behind it': time(`${now}abc`),
    'a time with a fraction': time(`${now}.9`),
    'a time with a zero in front': time(`0${now}`),
    'a time with a plus': time(`+${now}`),
    'a time with a space in front': time(` ${now}`),
    'a time with a second one behind a comma: two headers': time(`${now}, 1`),
    // Two headers are one of whoever added the other. The first would be believed, the second not seen.
    'a signature with a second one behind a comma: two headers': signature(`${good}, v1,AAAA`),
    'a signature with a third part': signature(`${good},anything`),
    'two spaces between signatures': signature(`v1,AAAA  ${good}`),
    'what is no signature beside one that is': signature(`garbage ${good}`),
    'an empty signature beside one that is': signature(`v1, ${good}`),
    // Each costs a verification of the whole body.
    'nine signatures': signature(`${'v1,AAAA '.repeat(8)}${good}`),
    'a signature of a thousand characters beside one': signature(`v1,${'A'.repeat(1_000)} ${good}`),
    // With a dot in it an old callback can be made new: see the forgeries.
    'an id with a dot': withId('evt.1'),
    'an id that takes the time of an old callback with it': {
      ...genuine(own, { id: 'evt_x', timestamp: '1700000000', body: `${now}.25` }),
      body: Buffer.from('25'),
      headers: {
        'webhook-id': 'evt_x.1700000000',
        'webhook-timestamp': now,
        'webhook-signature': signatureOf(own, {
          id: 'evt_x',
          timestamp: '1700000000',
          body: `${now}.25`,
        }),
      },
    },
    // No sender writes these. In a log or a database they look like another id.
    'an id with a space': withId('evt 1'),
    'an id with a comma: two headers': withId('evt_1, evt_2'),
    'an id with a line break': withId('evt_1\nevt_2'),
    'an id with a letter that looks like another': withId('еvt_1'),
    'an id of 257 characters': withId('x'.repeat(257)),
    // The last one wins there, whichever came first on the wire.
    'one header under two spellings of its name': {
      ...genuine(own),
      headers: { 'WEBHOOK-ID': 'evt_first', ...genuine(own).headers },
    },
    // They turn bytes into text first, and whatever is no UTF-8 becomes the same character.
    'a body with other bytes than were signed, none of them UTF-8': {
      ...genuine(own, { body: '"\ufffd"' }),
      body: Buffer.from([0x22, 0xff, 0x22]),
    },
  };

  for (const [name, given] of Object.entries(differences)) {
    it(name, async () => {
      clockMs = nowS * 1000;
      assert.equal(theirs(standard, given), 'accepts');
      assert.equal(await ours(given), 'rejects');
    });
  }

  it('secrets that are no secrets are found when the receiver is created', () => {
    const short = Buffer.from('short').toString('base64');
    for (const secret of [short, `whsec_${short}`, own.secret.slice('whsec_'.length)]) {
      assert.doesNotThrow(() => new StandardWebhook(secret));
      assert.throws(() => createReceiver({ secret }), TypeError);
    }
  });

  it('the one place where ours accepts more: bytes that are no UTF-8, signed as they are', async () => {
    clockMs = nowS * 1000;
    const binary = genuine(own, { ...facts, body: Buffer.from([0x80, 0xff, 0x00]) });
    assert.equal(theirs(standard, binary), 'rejects');
    assert.equal(await ours(binary), 'accepts');
  });
});
