import assert from 'node:assert/strict';
import { once } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import { describe, it } from 'node:test';
import { commentBytes, createEventStream, eventBytes } from './event-stream.ts';

const turn = async (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Takes one piece, and holds the next until it is released. */
function stuck(): { writable: Writable; pieces: string[]; release: () => void } {
  const pieces: string[] = [];
  let release = (): void => undefined;
  const writable = new Writable({
    highWaterMark: 1,
    write: (chunk: Buffer, _encoding, done) => {
      pieces.push(chunk.toString());
      release = done;
    },
  });
  return { writable, pieces, release: () => release() };
}

describe('createEventStream', () => {
  it('is ready again once a piece was written', async () => {
    const stream = createEventStream();
    let readies = 0;
    stream.attach({ ready: () => (readies += 1), leave: () => undefined });
    stream.body.pipe(new PassThrough());
    assert.equal(stream.isReady(), true);
    for (let count = 1; count <= 3; count += 1) {
      stream.send(Buffer.from('piece'));
      await turn();
      assert.equal(stream.isReady(), true);
    }
    assert(readies >= 3);
  });

  it('holds at most one piece while the client does not read', async () => {
    const stream = createEventStream();
    const { writable, pieces, release } = stuck();
    stream.body.pipe(writable);
    let sent = 0;
    for (; sent < 100 && stream.isReady(); sent += 1) {
      stream.send(Buffer.from(`${sent}`));
      await turn();
    }
    assert(sent <= 3, `${sent} pieces were taken`);
    assert(stream.body.readableLength <= 1);
    assert.equal(stream.isReady(), false);
    let isTold = false;
    stream.attach({ ready: () => (isTold = true), leave: () => undefined });
    for (let count = 0; count < sent; count += 1) {
      release();
      await turn();
    }
    assert.equal(stream.isReady(), true);
    assert.equal(isTold, true);
    assert.deepEqual(
      pieces,
      Array.from({ length: sent }, (_, at) => String(at)),
    );
  });

  it('ends after the last piece, and accepts none after it', async () => {
    const stream = createEventStream();
    let left = 0;
    stream.attach({ ready: () => undefined, leave: () => (left += 1) });
    const read: string[] = [];
    stream.body.on('data', (chunk: Buffer) => void read.push(chunk.toString()));
    stream.send(Buffer.from('one'));
    stream.end(Buffer.from('bye'));
    stream.send(Buffer.from('never'));
    stream.end(Buffer.from('bye'));
    await once(stream.body, 'close');
    assert.deepEqual(read, ['one', 'bye']);
    assert.equal(left, 1);
    stream.cut();
    assert.equal(left, 1);
  });
});

describe('eventBytes', () => {
  it('is one line of data, whatever text is in it', () => {
    const data = { text: 'a\nb\r\n\nevent: x\u2028' };
    const lines = eventBytes({ event: 'changes', id: '1_2-3', data }).toString().split('\n');
    assert.deepEqual(lines.slice(0, 2), ['event: changes', 'id: 1_2-3']);
    assert.deepEqual(JSON.parse(lines[2]?.slice('data: '.length) ?? ''), data);
    assert.deepEqual(lines.slice(3), ['', '']);
  });
});

describe('commentBytes', () => {
  it('may set the id to resume from', () => {
    assert.equal(commentBytes('still here', undefined).toString(), ': still here\n\n');
    assert.equal(commentBytes('still here', '7').toString(), ': still here\nid: 7\n\n');
  });
});
