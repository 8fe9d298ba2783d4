import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { limits } from '../../core/limits/limits.ts';
import { batchesOf, type Batch } from './batches.ts';

/** In chunks that respect neither lines nor characters. */
async function* chunks(text: string, size = 7): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function batches(text: string, seed: readonly string[] = [], size = 7): Promise<Batch[]> {
  return Array.fromAsync(batchesOf(chunks(text, size), seed));
}

const line = (message: string): string => `{"event":"a","payload":{"message":"${message}"}}\n`;
const many = (count: number): string =>
  Array.from({ length: count }, (_, at) => line(`${at}`)).join('');
const keys = (all: readonly Batch[]): string[] => all.map((one) => one.idempotencyKey);

describe('batchesOf', () => {
  it('keeps payloads byte for byte, counts every line, and skips empty ones', async () => {
    const text =
      '{"event": "a.b", "payload": { "n" : 1e400, "ü":12345678901234567890 } }\r\n\n  \n[]';
    await assert.rejects(batches(text), {
      message: /^Cannot publish line 4: it is not a JSON object, expected \{"event"/,
    });
    const [first] = await batches(text.slice(0, -2));
    assert.deepEqual(first?.lines, [
      { line: 1, event: 'a.b', payloadText: '{ "n" : 1e400, "ü":12345678901234567890 }' },
    ]);
    assert.deepEqual(await batches('\n\n'), []);
  });

  it('reports what is wrong with a line', async () => {
    const wrong: [string, RegExp][] = [
      ['{"event":"a"}', /line 1: "payload" is missing/],
      ['{"payload":1}', /line 1: "event" is missing or not a string/],
      ['{"event":7,"payload":1}', /line 1: "event" is missing or not a string/],
      ['{"event":"a","payload":1,"to":2}', /line 1: it has the unknown member "to"/],
      ['{"event":"a","payload":1,"customer":7}', /line 1: "customer" is not a string/],
      [`${line('x')}{"event":`, /line 2: /],
      [`${line('x')}"a"`, /line 2: it is not a JSON object/],
    ];
    for (const [text, message] of wrong) await assert.rejects(batches(text), { message });
  });

  it('closes a batch at 1,000 events and before a body gets too large', async () => {
    const all = await batches(many(2_001), [], 65_536);
    assert.deepEqual(
      all.map(({ lines }) => [lines.length, lines[0]?.line]),
      [
        [1_000, 1],
        [1_000, 1_001],
        [1, 2_001],
      ],
    );
    const large = line('x'.repeat(400_000)).repeat(5);
    const sizes = (await batches(large, [], 65_536)).map(({ lines }) => lines.length);
    assert.deepEqual(sizes, [2, 2, 1]);
    const huge = `{"event":"a","payload":"${'x'.repeat(limits.inputBytesMax + 1)}`;
    await assert.rejects(batches(huge, [], 65_536), { message: /one event per line/ });
  });

  it('makes the same keys again, however the bytes are chunked, and other keys for anything else', async () => {
    const text = many(2_500);
    const first = keys(await batches(text, ['x'], 65_536));
    assert.deepEqual(keys(await batches(text, ['x'], 999)), first);
    assert.equal(new Set(first).size, 3);
    assert.ok(keys(await batches(text, ['y'], 65_536)).every((key) => !first.includes(key)));
  });

  it('reads the subject and the customer of a line, on which the key depends', async () => {
    const read = async (members: string): Promise<Batch | undefined> =>
      (await batches(line('x').replace('{', `{${members}`)))[0];
    const subject = await read('"subject":"one",');
    const customer = await read('"customer":"one",');
    assert.partialDeepStrictEqual(subject?.lines, [{ subject: 'one' }]);
    assert.partialDeepStrictEqual(customer?.lines, [{ customer: 'one' }]);
    const others = [
      '',
      '"subject":"two",',
      '"customer":"two",',
      '"subject":"one","customer":"one",',
    ];
    const all = [subject, customer, ...(await Promise.all(others.map(read)))];
    assert.equal(new Set(all.map((one) => one?.idempotencyKey)).size, all.length);
  });

  it('distinguishes equal batches of one file', async () => {
    const all = keys(await batches(line('same').repeat(3_000), [], 65_536));
    assert.equal(new Set(all).size, 3);
  });

  it('keeps the keys of batches before a corrected line', async () => {
    const [one, two, three] = keys(await batches(many(3_000), [], 65_536));
    const corrected = many(3_000).replace('"1500"', '"corrected"');
    const again = keys(await batches(corrected, [], 65_536));
    assert.equal(again[0], one);
    assert.notEqual(again[1], two);
    assert.notEqual(again[2], three);
  });
});
