// The receivers in Python and Go, executed as they stand: each takes what a real Ringback sends and
// refuses what a forger would. Skipped, with the reason, where the language is not installed.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { generateKeyPairSync, sign as signEd25519 } from 'node:crypto';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { start } from '../api/harness.ts';
import {
  newFolder,
  runChild,
  startChild,
  type Child,
  type Env,
  type Program,
} from '../cli/ringback-process.ts';
import { inState, onlyDelivery, patch, publish, subscribe } from '../e2e/stage.ts';
import {
  callbackOf,
  commonForgeries,
  flipBit,
  genuineParts,
  hmacForgeries,
  looseEnd,
  newId,
  newSecret,
  nowS,
  send,
  signHmac,
  type Forgery,
  type Parts,
} from './forgeries.ts';

const examples = join(import.meta.dirname, '..', '..', 'examples');

interface Language {
  /** Says why it cannot run here. */
  missing: () => string | undefined;
  /** The command of the receiver; what it builds stands in `folder`. */
  build: (folder: string) => Program;
}

/** No network: they have no dependencies. */
const goEnv: Env = { GOFLAGS: '-mod=mod', GOPROXY: 'off', GOTOOLCHAIN: 'local' };

const python: Language = {
  missing: () => whyMissing('python3', ['--version']),
  build: () => ['python3', join(examples, 'python', 'receiver.py')],
};

const go: Language = {
  missing: () => whyMissing('go', ['version']),
  build: (folder) => {
    const made = join(folder, 'receiver');
    const cwd = join(examples, 'go');
    const env = { ...process.env, ...goEnv };
    const built = spawnSync('go', ['build', '-o', made, '.'], { cwd, env, encoding: 'utf8' });
    assert.equal(built.status, 0, built.stderr);
    return [made];
  },
};

function whyMissing(command: string, args: readonly string[]): string | undefined {
  const { error, status } = spawnSync(command, args);
  return error === undefined && status === 0 ? undefined : `${command} is not installed here`;
}

interface Receiver extends AsyncDisposable {
  port: number;
  child: Child;
}

async function startReceiver(program: Program, secret: string): Promise<Receiver> {
  const child = startChild([], { RINGBACK_SECRET: secret, PORT: '0' }, program);
  const [, port = ''] = await child.says(/Listening on http:\/\/127\.0\.0\.1:(\d+)\//);
  return { port: Number(port), child, [Symbol.asyncDispose]: child[Symbol.asyncDispose] };
}

/** Sends all, between genuine ones that must be taken. Nothing else may have been handled. */
async function refusesAll(
  { port, child }: Receiver,
  forgeries: readonly Forgery[],
  genuine: () => readonly Parts[],
): Promise<void> {
  const taken: string[] = [];
  const take = async (): Promise<void> => {
    for (const parts of genuine()) {
      assert.deepEqual(await send(port, callbackOf(parts)), { status: 200, text: '' });
      await child.says(new RegExp(`^${parts.id} `, 'm'));
      taken.push(parts.id);
    }
  };
  await take();
  const wrong: string[] = [];
  for (const { kind, callback } of forgeries) {
    const { status, text } = await send(port, callback);
    if (status !== 401 || text !== '') wrong.push(`${kind}: ${status} ${text}`);
  }
  assert.deepEqual(wrong, []);
  await take();
  const handled = [...child.out().matchAll(/^(evt_\S+) /gm)].map(([, id]) => id);
  assert.deepEqual(handled, taken);
}

/** As while a secret is rotated: the first signature is by one that this receiver does not have. */
function withStranger(parts: Parts): Parts {
  return { ...parts, signature: `v1a,AAAA ${signHmac(newSecret(), parts)} ${parts.signature}` };
}

async function boundsBodies({ port }: Receiver, secret: string): Promise<void> {
  const small = callbackOf(genuineParts(secret));
  const length = ['Content-Length', String(1024 * 1024 + 1)] as const;
  const { status } = await send(port, small, { more: [length] });
  assert.equal(status, 413);
}

/** Whoever may publish must not write to our terminal, and no digit is lost. */
async function printsHarmlessly({ port, child }: Receiver, secret: string): Promise<void> {
  const body = String.raw`{"message":"\u001b]0;PWNED\u0007 \u009b31m","n":12345678901234567890}`;
  const [id, timestampS] = [newId(), nowS()];
  const signature = signHmac(secret, { id, timestampS, body });
  assert.equal((await send(port, callbackOf({ id, timestampS, body, signature }))).status, 200);
  const [line = ''] = await child.says(new RegExp(`^${id} .*$`, 'm'));
  assert.deepEqual(line.match(/[\p{Cc}]/gu), null, JSON.stringify(line));
  assert.match(line, /\b12345678901234567890\b/);
}

async function hearsRingback(program: Program, signing: 'hmac' | 'ed25519'): Promise<void> {
  await using service = await start();
  const body = { callbackUrl: 'http://127.0.0.1:8081/', 'x-ringback': { signing } };
  const { id, secret } = await subscribe(service, { body });
  assert.match(secret, signing === 'hmac' ? /^whsec_/ : /^whpk_/);
  await using receiver = await startReceiver(program, secret);
  const url = `http://127.0.0.1:${receiver.port}/hook`;
  assert.equal((await patch(service, id, { callbacks: [{ position: 0, url }] })).status, 200);
  // While a secret is rotated there are two signatures.
  for (const isRotated of [false, true]) {
    if (isRotated) {
      const path = `/subscriptions/${id}/secret/rotate`;
      assert.equal((await service.call({ method: 'POST', path, body: {} })).status, 200);
    }
    const accepted = await publish(service, 'order.created', {
      payload: '{"message":"Bücher ✓ \\ud83d\\ude00"}',
    });
    const done = await inState(service, await onlyDelivery(service, accepted), 'delivered');
    assert.equal(done.status, 200);
    await receiver.child.says(new RegExp(`^${accepted.eventId} .*`, 'm'));
  }
}

async function saysWhatIsMissing(program: Program): Promise<void> {
  for (const [secret, says] of [
    ['', /set RINGBACK_SECRET to the secret of the subscription/],
    ['abc', /Cannot use RINGBACK_SECRET: expected it to start with/],
    ['whsec_', /Cannot use RINGBACK_SECRET: expected/],
    ['whsec_***', /Cannot use RINGBACK_SECRET: expected base64/],
  ] as const) {
    const { code, err } = await runChild([], { RINGBACK_SECRET: secret }, program);
    assert.equal(code, 1);
    assert.match(err, says);
  }
}

for (const [name, language] of Object.entries({ 'receiver.py': python, 'receiver.go': go })) {
  describe(name, { skip: language.missing() ?? false }, () => {
    it('takes what Ringback sends, refuses forgeries, and says what it misses', async (t) => {
      await using folder = await newFolder();
      const program = language.build(folder.path);
      const [secret, older] = [newSecret(), newSecret()];
      await using receiver = await startReceiver(program, `${secret} ${older}`);
      const forgeries = hmacForgeries(secret);
      assert.ok(forgeries.length >= 40);
      t.diagnostic(`${forgeries.length} forgeries`);
      await refusesAll(receiver, forgeries, () => [
        genuineParts(secret),
        genuineParts(older),
        withStranger(genuineParts(secret)),
        genuineParts(secret, nowS() - 200),
      ]);
      await boundsBodies(receiver, secret);
      await printsHarmlessly(receiver, secret);
      assert.ok(
        (await send(receiver.port, { headers: [], body: '' }, { method: 'GET' })).status >= 400,
      );
      await hearsRingback(program, 'hmac');
      await saysWhatIsMissing(program);
      if (name === 'receiver.go') await ed25519(program, t);
    });
  });
}

describe('receiver.py', { skip: python.missing() ?? false }, () => {
  it('gives a whole request a limit, however it drips', async () => {
    // As it stands, with a shorter limit.
    const code = `
import sys
sys.path.insert(0, ${JSON.stringify(join(examples, 'python'))})
sys.dont_write_bytecode = True
import receiver
receiver.REQUEST_S_MAX = 0.5
receiver.THREADS_MAX = 1
receiver.main()`;
    await using receiver = await startReceiver(['python3', '-c', code], newSecret());
    for (const head of [
      'POST /hook HTTP/1.1\r\nX-Slow: ',
      'POST / HTTP/1.1\r\nContent-Length: 999\r\n\r\n',
      '',
    ]) {
      const socket = connect(receiver.port, '127.0.0.1').on('error', () => undefined);
      const closed = new Promise((resolve) => socket.on('close', resolve));
      socket.resume().write(head);
      let drops = 0;
      const drip = setInterval(() => {
        drops += 1;
        if (drops < 300) socket.write('x');
        else socket.destroy();
      }, 50);
      await closed;
      clearInterval(drip);
      assert.ok(drops < 300, `${JSON.stringify(head)}: it was listened to for ever`);
    }
    assert.match(receiver.child.err(), /timed out/);
  });
});

async function ed25519(program: Program, t: TestContext): Promise<void> {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const raw = Buffer.from(String(publicKey.export({ format: 'jwk' }).x), 'base64url');
  const verifier = `whpk_${raw.toString('base64')}`;
  const sign = ({ id, timestampS, body }: Omit<Parts, 'signature'>): string =>
    `v1a,${signEd25519(null, Buffer.from(`${id}.${timestampS}.${body}`), privateKey).toString('base64')}`;
  const genuine = (): Parts => {
    const parts = { id: newId(), timestampS: nowS(), body: '{"message":"hello"}' };
    return { ...parts, signature: sign(parts) };
  };
  const forge = (kind: string, change: (parts: Parts) => string): Forgery => {
    const parts = genuine();
    return { kind, callback: callbackOf({ ...parts, signature: change(parts) }) };
  };
  const other = generateKeyPairSync('ed25519').privateKey;
  const forgeries = [
    ...commonForgeries(sign),
    forge('signed by another pair', ({ id, timestampS, body }) => {
      const signed = Buffer.from(`${id}.${timestampS}.${body}`);
      return `v1a,${signEd25519(null, signed, other).toString('base64')}`;
    }),
    // Whoever knows the public key knows this "secret".
    forge('HMAC with the public key', (parts) =>
      signHmac(`whsec_${raw.toString('base64')}`, parts),
    ),
    forge('HMAC with the public key, as v1a', (parts) =>
      signHmac(`whsec_${raw.toString('base64')}`, parts).replace('v1', 'v1a'),
    ),
    forge('the version of HMAC', ({ signature }) => signature.replace('v1a', 'v1')),
    forge('no version', ({ signature }) => signature.slice('v1a,'.length)),
    forge('one bit changed', ({ signature }) => flipBit(signature)),
    forge('a shorter signature', ({ signature }) => signature.slice(0, -4)),
    forge('a longer signature', ({ signature }) => signature.replace(/==$/, 'AA==')),
    forge('nothing but zeros', () => `v1a,${Buffer.alloc(64).toString('base64')}`),
    forge('bits that base64 ignores', ({ signature }) => looseEnd(signature)),
    forge('no padding', ({ signature }) => signature.replace(/=+$/, '')),
  ];
  t.diagnostic(`${forgeries.length} forgeries of Ed25519`);
  await using receiver = await startReceiver(program, verifier);
  await refusesAll(receiver, forgeries, () => [genuine()]);
  await hearsRingback(program, 'ed25519');
}
