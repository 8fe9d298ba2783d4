// Sends bodies that are too large, too deep, compressed or mislabelled: each must be refused. Then sends
// payloads that most JSON libraries would alter: each must reach the receiver byte for byte.
import { gzipSync } from 'node:zlib';
import { receive } from '../../e2e/receiver.ts';
import type { Attempt } from './target.ts';
import { exchange, jsonRequest, openWire, requestOf } from './wire.ts';
import { until } from './siege.ts';

const mib = 1_048_576;
/** Stop after this many violations: more of them add nothing. */
const enough = 3;

export async function sendBadBodies(
  { target, figures, violations }: Attempt,
  rounds: number,
): Promise<void> {
  const { key, url } = target;
  const keyed = [`X-API-Key: ${key}`, 'Content-Type: application/json'];
  const deep = (open: string, count: number): string =>
    `{"event":"a.b","payload":${open.repeat(count)}`;
  const closed = (count: number): string =>
    `{"event":"a.b","payload":${'['.repeat(count)}${']'.repeat(count)}}`;
  const deepObject = `{"event":"a.b","payload":{"message":"m","deep":${'['.repeat(1_000)}${']'.repeat(1_000)}}}`;
  const bomb = gzipSync(Buffer.alloc(32 * mib, ' ')).toString('latin1');
  const whole = (body: string, headers: string[] = []): string =>
    jsonRequest('POST /events', key, body, headers);
  const cases: [name: string, bytes: string, status: number][] = [
    ['a depth of 100,000', whole(closed(100_000)), 400],
    ['a depth of 1,000', whole(deepObject), 400],
    ['a mebibyte of [', whole(deep('[', mib - 100)), 400],
    ['{"a": nested', whole(deep('{"a":', 20_000)), 400],
    ['a million values', whole(`{"event":"a.b","payload":[${'1,'.repeat(400_000)}1]}`), 400],
    ['a key of a mebibyte', whole(`{"${'a'.repeat(mib - 100)}":1}`), 400],
    [
      '50,000 keys',
      whole(`{${Array.from({ length: 60_000 }, (_, i) => `"k${i}":1`).join()}}`),
      400,
    ],
    ['a body of 2 MiB', whole(' '.repeat(2 * mib)), 413],
    ['a length of 2 MiB', requestOf('POST /events', [...keyed, `Content-Length: ${2 * mib}`]), 413],
    [
      'a length of 2^53',
      requestOf('POST /events', [...keyed, 'Content-Length: 9007199254740993']),
      413,
    ],
    [
      '17 KiB where no key is needed',
      requestOf('POST /console/session', [
        'Content-Type: application/json',
        'Content-Length: 17408',
      ]),
      413,
    ],
    ['gzip', whole(bomb, ['Content-Encoding: gzip']), 415],
    ['br', whole(bomb, ['Content-Encoding: br']), 415],
    ['gzip twice', whole(bomb, ['Content-Encoding: gzip, gzip']), 415],
    [
      'utf-7',
      requestOf(
        'POST /events',
        [`X-API-Key: ${key}`, 'Content-Type: application/json; charset=utf-7', 'Content-Length: 2'],
        '{}',
      ),
      415,
    ],
    ['no UTF-8', whole('{"event":"a.b","payload":{"message":"\xff\xfe"}}'), 400],
    ['__proto__', whole('{"event":"a.b","payload":{},"__proto__":{"subscriberId":"x"}}'), 400],
    ['a key twice', whole('{"event":"a.b","event":"a.c","payload":{"message":"m"}}'), 400],
    [
      'a number of 100,000 digits for a name',
      whole(`{"event":${'1'.repeat(100_000)},"payload":{}}`),
      400,
    ],
    ['a string that ends nowhere', whole(`{"event":"${'a'.repeat(500_000)}`), 400],
    ['a million backslashes', whole(`{"event":"${'\\'.repeat(mib - 100)}`), 400],
  ];
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, bytes, status] of cases) {
      if (violations.length >= enough) return;
      const { answers, isInTime } = await exchange(url, bytes);
      const found = answers.map((one) => one.status).join();
      if (!isInTime || found !== `${status}`)
        violations.push(`I11: ${name}: answered ${found || 'nothing'}, expected ${status}`);
    }
    await streamForEver({ target, figures, violations });
  }
  const earlier = Number(figures['bodies that are refused'] ?? 0);
  figures['bodies that are refused'] = earlier + cases.length * rounds;
}

/** Sends chunks without end: the service must refuse them at the limit and discard the rest. */
async function streamForEver({ target, violations }: Attempt): Promise<void> {
  using wire = openWire(target.url);
  const chunk = `8000\r\n${' '.repeat(0x80_00)}\r\n`;
  let sent = 0;
  const more = (): void => {
    if (wire.socket.destroyed || wire.isOver() || sent > 64 * mib) return;
    sent += chunk.length;
    wire.socket.write(chunk, () => setImmediate(more));
  };
  wire.socket.write(
    requestOf('POST /events', [
      `X-API-Key: ${target.key}`,
      'Content-Type: application/json',
      'Transfer-Encoding: chunked',
    ]),
  );
  more();
  const isOver = await until(() => wire.isOver() || wire.heard().includes('413'), 30_000);
  if (!isOver) violations.push(`I11: chunks without an end: ${sent} bytes were taken`);
}

/** JSON texts that change when they are parsed and printed again. */
const oddPayloads = [
  '{"message":"\\u0000"}',
  '{"message":"\\ud800"}',
  '{"message":"a","message":"b"}',
  '{ "message" :\t"spaces" }',
  '{"message":"m","n":123456789012345678901234567890}',
  '{"message":"m","n":1E400,"m":-0,"o":1.0,"p":1e2}',
  '{"message":"\\u0041\\/\\u00e9"}',
  '{"message":"\u2028\u2029\ufeff\u200b"}',
  '{"message":"😀\u0301"}',
  '{"message":"</script><!--"}',
  '{"message":"m","__proto__":{"a":1},"constructor":{"prototype":{}}}',
  `{"message":"m","deep":${'['.repeat(60)}${']'.repeat(60)}}`,
  `{"message":"${'x'.repeat(200_000)}"}`,
];

/** F30: the receiver and the API both get the exact bytes that were published. */
export async function keepBytes({ target, figures, violations }: Attempt): Promise<void> {
  await using receiver = await receive();
  const made = await target.call({
    method: 'POST',
    path: '/subscribe',
    body: { callbackUrl: receiver.url },
  });
  if (made.status !== 201) throw new Error(made.text);
  const ids = new Map<string, string>();
  for (const payload of oddPayloads) {
    const body = Buffer.from(`{"event":"odd.bytes","payload":${payload}}`);
    const headers = { 'content-type': 'application/json' };
    const { status, text, json } = await target.call({
      method: 'POST',
      path: '/events',
      headers,
      body,
    });
    if (status !== 202) violations.push(`I2: refused ${payload.slice(0, 60)}: ${text}`);
    else ids.set(String(json['eventId']), payload);
  }
  const callbacks = await receiver.waitFor(ids.size);
  for (const { headers, body } of callbacks) {
    const sent = ids.get(String(headers['webhook-id']));
    if (sent !== undefined && body.toString() !== sent) {
      violations.push(`I2: ${sent.slice(0, 60)} arrived as ${body.toString().slice(0, 60)}`);
    }
  }
  for (const [id, sent] of ids) {
    const { text } = await target.call({ path: `/events/${id}` });
    if (!text.includes(sent))
      violations.push(`I2: ${sent.slice(0, 60)} is shown as ${text.slice(0, 200)}`);
  }
  figures['odd payloads, byte for byte'] = ids.size;
  await target.call({
    method: 'DELETE',
    path: `/subscriptions/${String(made.json['subscriberId'])}`,
  });
}
