import { strict as assert } from 'node:assert';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { limits } from '../../core/limits/limits.ts';
import { DirectConnection, type Answer, type Serving } from './connection.ts';
import type { WholeRequest } from './read-whole.ts';

const head =
  'POST /a HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n';
const request = `${head}{}`;
const other = 'GET /b HTTP/1.1\r\nHost: x\r\n\r\n';

interface Question {
  request: WholeRequest;
  answer: (one?: Partial<Answer>) => void;
  fail: (error: Error) => void;
}

/** A real connection with both of its ends; the test plays the server. */
interface Pair extends Disposable {
  client: Socket;
  socket: Socket;
  connection: DirectConnection;
  /** Resolves with the next request, which waits for its answer. */
  asked: () => Promise<Question>;
  isAsked: () => boolean;
  sent: string[];
  /** Everything received on a connection that was handed over. */
  handedOver: Promise<string>;
  broken: Promise<void>;
  failed: Promise<unknown>;
}

describe('DirectConnection', () => {
  let server: Server;
  before(async () => {
    server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => server.close());

  async function open(): Promise<Pair> {
    const { port } = server.address() as AddressInfo;
    const client = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
    const [socket] = (await once(server, 'connection')) as [Socket];
    const questions: Question[] = [];
    const waiting: (() => void)[] = [];
    const handedOver = Promise.withResolvers<string>();
    const broken = Promise.withResolvers<void>();
    const failed = Promise.withResolvers<unknown>();
    const sent: string[] = [];
    const serving: Serving = {
      serve: async (one) => {
        const { promise, resolve, reject } = Promise.withResolvers<Answer>();
        const answer = (more: Partial<Answer> = {}): void => {
          const onSent = (): void => void sent.push(one.head.path);
          resolve({ text: 'answer\n', encoding: 'latin1', isLast: false, onSent, ...more });
        };
        questions.push({ request: one, answer, fail: reject });
        waiting.shift()?.();
        return promise;
      },
      handOver: (one) => handedOver.resolve(text(one)),
      breakOff: () => broken.resolve(),
      onError: failed.resolve,
    };
    return {
      client,
      socket,
      connection: new DirectConnection(socket, serving),
      isAsked: () => questions.length > 0,
      asked: async () => {
        if (questions.length === 0) await new Promise<void>((resolve) => waiting.push(resolve));
        const question = questions.shift();
        assert(question);
        return question;
      },
      sent,
      handedOver: handedOver.promise,
      broken: broken.promise,
      failed: failed.promise,
      [Symbol.dispose]: () => {
        client.destroy();
        socket.destroy();
      },
    };
  }

  /** Resolves when the other end has read the bytes. */
  async function say({ client, socket }: Pair, bytes: string): Promise<void> {
    const read = once(socket, 'data');
    client.write(bytes);
    await read;
  }

  it('joins the pieces of a request', async () => {
    using pair = await open();
    await say(pair, head);
    await say(pair, '{');
    assert.equal(pair.isAsked(), false);
    await say(pair, '}');
    const { request: read, answer } = await pair.asked();
    assert.equal(String(read.body), '{}');
    answer();
    assert.equal(String((await once(pair.client, 'data'))[0]), 'answer\n');
  });

  it('serves pipelined requests one at a time, in order', async () => {
    using pair = await open();
    await say(pair, request);
    const first = await pair.asked();
    await say(pair, request.replace('/a', '/c'));
    assert.equal(pair.isAsked(), false);
    first.answer();
    const second = await pair.asked();
    assert.equal(second.request.head.path, '/c');
    assert.deepEqual(pair.sent, ['/a']);
    second.answer();
  });

  it('reads nothing more while the client does not read its answer', async () => {
    using pair = await open();
    pair.client.pause();
    await say(pair, request);
    const first = await pair.asked();
    first.answer({ text: 'x'.repeat(64 * 1024 * 1024) }); // More than any system buffers.
    await say(pair, request);
    assert.deepEqual([pair.isAsked(), pair.sent], [false, []]);
    pair.client.resume();
    (await pair.asked()).answer();
    assert.deepEqual(pair.sent, ['/a']);
  });

  it('hands over anything that is not plain, with every byte of it', async () => {
    for (const bytes of [other, request + request, 'garbage', head.slice(0, 30)]) {
      using pair = await open();
      pair.client.end(bytes);
      assert.equal(await pair.handedOver, bytes);
      assert.equal(pair.isAsked(), false);
    }
  });

  it('hands over a request that comes in too many pieces', async () => {
    using pair = await open();
    const long = request.replace('Length: 2', 'Length: 9');
    await say(pair, long);
    for (const _ of [1, 2]) await say(pair, 'x');
    pair.client.end('x');
    assert.equal(await pair.handedOver, `${long}xxx`);
  });

  it('hands over a request that waited behind an answer', async () => {
    using pair = await open();
    await say(pair, request);
    const { answer } = await pair.asked();
    pair.client.end(other);
    await once(pair.socket, 'pause');
    answer();
    assert.equal(await pair.handedOver, other);
    assert.deepEqual(pair.sent, ['/a']);
  });

  it('hands over a silent connection and an unfinished request', async () => {
    for (const bytes of ['', head]) {
      using pair = await open();
      if (bytes !== '') await say(pair, bytes);
      pair.socket.emit('timeout');
      pair.client.end();
      assert.equal(await pair.handedOver, bytes);
    }
  });

  it('closes an idle connection after its last answer', async () => {
    using pair = await open();
    await say(pair, request);
    (await pair.asked()).answer();
    await once(pair.client, 'data');
    const each = limits.connectionTimeoutMs;
    for (let ms = each; ms < limits.keepAliveTimeoutMs; ms += each) {
      pair.socket.emit('timeout');
      assert.deepEqual([pair.socket.destroyed, pair.socket.timeout], [false, each]);
    }
    pair.socket.emit('timeout');
    await once(pair.client, 'end');
    assert(pair.socket.destroyed);
  });

  it('cuts off a client that does not read its answer', async () => {
    using pair = await open();
    await say(pair, request);
    await pair.asked();
    assert.equal(pair.socket.timeout, limits.connectionTimeoutMs);
    pair.socket.emit('timeout');
    await once(pair.client.resume(), 'end');
  });

  it('cuts off the connection and reports the error when answering fails', async () => {
    using pair = await open();
    await say(pair, request);
    (await pair.asked()).fail(new Error('ours'));
    assert.match(String(await pair.failed), /ours/);
    await once(pair.client.resume(), 'end');
  });

  it('reports that a request was broken off', async () => {
    using pair = await open();
    await say(pair, head);
    pair.client.end();
    await pair.broken;
    assert.equal(pair.isAsked(), false);
  });

  it('answers a client that has ended its side, then ends', async () => {
    using pair = await open();
    const ended = once(pair.socket, 'end');
    pair.client.end(request);
    const { answer } = await pair.asked();
    await ended;
    answer();
    assert.equal(await text(pair.client), 'answer\n');
  });

  it('sends the last answer, and cuts off a client that keeps sending', async () => {
    using pair = await open();
    await say(pair, request);
    (await pair.asked()).answer({ isLast: true });
    assert.equal(String((await once(pair.client, 'data'))[0]), 'answer\n');
    await once(pair.client, 'end');
    assert.equal(pair.socket.destroyed, false);
    const cut = once(pair.socket, 'close');
    const goOn = (): void => {
      if (!pair.socket.destroyed) pair.client.write(request, () => setImmediate(goOn));
    };
    pair.client.on('error', () => undefined);
    goOn();
    await cut;
    assert.equal(pair.isAsked(), false);
  });

  it('closes at once when idle, after the answer when busy, and hands over an unfinished request', async () => {
    using idle = await open();
    idle.connection.close();
    await once(idle.client.resume(), 'end');
    using begun = await open();
    await say(begun, head);
    begun.connection.close();
    begun.client.end('{}');
    assert.equal(await begun.handedOver, request);
    using busy = await open();
    await say(busy, request);
    const { answer } = await busy.asked();
    busy.connection.close();
    assert.equal(busy.socket.destroyed, false);
    answer();
    assert.equal(await text(busy.client), 'answer\n');
  });

  it('tolerates that the client is gone before its answer', async () => {
    using pair = await open();
    await say(pair, request);
    const { answer } = await pair.asked();
    pair.client.resetAndDestroy();
    await new Promise((resolve) => pair.socket.once('close', resolve));
    const sent = Promise.withResolvers<void>();
    answer({ onSent: sent.resolve });
    await sent.promise;
  });
});
