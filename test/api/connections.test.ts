// The responses on one connection, their order, and when it is closed, for bytes that no HTTP client sends.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { limits } from '../../src/core/limits/limits.ts';
import { frozenWorld } from './frozen-world.ts';
import { start, type Running } from './harness.ts';

const health = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';
const event = '{"event":"a.b","payload":{"message":"m"}}';

describe('a connection', () => {
  let service: Running;
  before(async () => {
    service = await start();
  });
  after(async () => service[Symbol.asyncDispose]());

  const publish = (...headers: string[]): string =>
    [
      'POST /events HTTP/1.1',
      'Host: x',
      `X-API-Key: ${service.key}`,
      'Content-Type: application/json',
      `Content-Length: ${event.length}`,
      ...headers,
      '',
      event,
    ].join('\r\n');

  it('gets the responses to its requests before the 400 for bytes that are not a request', async () => {
    const heard = await say(service, `${publish()}\0garbage`);
    assert.deepEqual(statuses(heard), ['202', '400']);
    assert.match(heard, /"eventId"[^]*malformed_request/);
  });

  it('gets the response to its last request, whatever follows it', async () => {
    assert.deepEqual(statuses(await say(service, publish('Connection: close') + health)), ['202']);
  });

  it('gets the 400 for a broken body in order', async () => {
    const broken = publish('Transfer-Encoding: chunked').replace(/Content-Length: \d+\r\n/, '');
    assert.deepEqual(statuses(await say(service, publish() + health + broken)), [
      '202',
      '200',
      '400',
    ]);
  });

  it('gets nothing more for a broken body whose request was already answered', async () => {
    const socket = open(service);
    socket.write('POST /events HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
    const [first] = await once(socket, 'data');
    assert.deepEqual(statuses(String(first)), ['401']);
    socket.write('no length\r\n');
    assert.equal(await text(socket), '');
  });

  it('ends after its maximum number of responses, and later requests are not processed', async () => {
    const many = limits.requestsPerSocketMax;
    const heard = await say(service, health.repeat(many) + publish().repeat(3));
    assert.equal(statuses(heard).length, many);
    assert.ok(statuses(heard).every((status) => status === '200'));
    assert.match(heard.slice(-400), /connection: close/i);
  });

  it('gets the 400 for a broken last request', async () => {
    const many = limits.requestsPerSocketMax;
    const broken = publish('Transfer-Encoding: chunked').replace(/Content-Length: \d+\r\n/, '');
    const heard = statuses(await say(service, health.repeat(many - 1) + broken));
    assert.deepEqual([heard.length, heard.at(-1)], [many, '400']);
  });

  it('is destroyed if it keeps sending after a refusal', async () => {
    const world = frozenWorld();
    await using other = await start({ world });
    const socket = open(other, { allowHalfOpen: true });
    socket.write('garbage\r\n\r\n');
    const [refused] = await once(socket, 'data');
    assert.deepEqual(statuses(String(refused)), ['400']);
    world.advance(limits.overLingerMs);
    const cutOff = once(socket, 'error'); // The client has not ended it, so only the service can.
    const goOn = (): void => {
      if (!socket.destroyed) socket.write('more', () => setImmediate(goOn));
    };
    goOn();
    await cutOff;
  });
});

/** Sends all bytes at once, and reads until the service ends the connection. */
async function say(service: Running, bytes: string): Promise<string> {
  const socket = open(service);
  socket.write(bytes);
  return text(socket);
}

function open({ url }: Running, more: { allowHalfOpen?: boolean } = {}): Socket {
  const { port, hostname } = new URL(url);
  return connect({ port: Number(port), host: hostname, ...more });
}

function statuses(heard: string): string[] {
  return Array.from(heard.matchAll(/HTTP\/1\.1 (\d{3})/g), ([, status = '']) => status);
}
