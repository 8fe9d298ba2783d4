// Answers of node:http that are held: the bytes on the wire are those of the handler, whichever calls it makes, and the
// handler sees what it sees without the middleware.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, beforeEach, describe, it } from 'node:test';
import { createGzip } from 'node:zlib';
import {
  ringbackExpress,
  ringbackFetch,
  type MiddlewareOptions,
} from '../../src/middleware/middleware.ts';
import { running, type Api } from './apis.ts';
import { fakeRingback, registered, type FakeRingback } from './fake-ringback.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

let ringback: FakeRingback;
let errors: Error[] = [];
before(async () => {
  ringback = await fakeRingback();
});
beforeEach(() => {
  errors = [];
  ringback.exchanges.length = 0;
  ringback.answer = registered;
});
after(async () => ringback[Symbol.asyncDispose]());

function optionsFor(more: Partial<MiddlewareOptions> = {}): MiddlewareOptions {
  const onError = (error: Error): void => void errors.push(error);
  return { url: ringback.url, operations: ['POST /jobs'], onError, ...more };
}

async function listen(handler: Handler): Promise<Api> {
  return running(createServer(handler).listen(0, '127.0.0.1'));
}

function held(handler: Handler, more: Partial<MiddlewareOptions> = {}): Handler {
  const middleware = ringbackExpress(optionsFor(more));
  return (request, response) => middleware(request, response, () => handler(request, response));
}

async function dial({ url }: Api): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

const requestHead = 'POST /jobs HTTP/1.1\r\nhost: api\r\nconnection: close\r\n';

/** Everything that arrives until the connection is closed, but for the time. */
async function raw(api: Api, sent = `${requestHead}\r\n`): Promise<string> {
  const socket = await dial(api);
  socket.setEncoding('latin1');
  socket.write(sent);
  return (await text(socket)).replace(/^date: .*\r\n/im, '');
}

/** The lines of the head, sorted, the body without its chunks, and the trailers. */
function partsOf(bytes: string): string[][] {
  const [first = '', ...rest] = bytes.split(/(?<=\r\n\r\n)/);
  const [heads, body] = first.startsWith('HTTP/1.1 103')
    ? [[first, rest[0] ?? ''], rest.slice(1).join('')]
    : [[first], rest.join('')];
  const [, chunks = body, trailers = ''] = /^(.*\r\n)0\r\n(.*)$/s.exec(body) ?? [];
  const plain = chunks.replaceAll(/(?:^|\r\n)[0-9a-f]+\r\n/g, '');
  return [...heads.map((head) => head.split('\r\n').toSorted()), [plain], [trailers]];
}

const handlers: Readonly<Record<string, Handler>> = {
  'a head with a list of headers': (_request, response) => {
    response.writeHead(201, 'Made', ['X-A', '1', 'X-A', '2', 'Content-Type', 'application/json']);
    response.end('{"jobId":1}');
  },
  'a head with an object of headers': (_request, response) => {
    response.setHeader('X-Before', 'b');
    response.writeHead(202, { 'Set-Cookie': ['a=1', 'b=2'], 'X-Before': 'c', 'X-Number': 1 });
    response.end();
  },
  'headers that are sent early': (_request, response) => {
    response.setHeader('content-type', 'text/plain');
    response.flushHeaders();
    response.end('late');
  },
  'text in several encodings': (_request, response) => {
    response.write('ü', 'latin1');
    response.write('ü');
    response.write('c3bc', 'hex');
    response.end('w7w=', 'base64');
  },
  'a buffer that is used again': (_request, response) => {
    const chunk = Buffer.from('first');
    response.write(chunk, () => {
      chunk.write('other');
      response.end(chunk);
    });
  },
  'pieces that are written after another': (_request, response) => {
    response.write('1', () => response.write('2', 'utf8', () => response.end('3')));
  },
  'an end without a body': (_request, response) => void response.writeHead(204).end(),
  'an end with a callback': (request, response) => {
    response.end(() => request.socket.end());
  },
  'trailers and early hints': (_request, response) => {
    response.writeEarlyHints({ link: '</a.css>; rel=preload' });
    response.writeHead(200, { trailer: 'x-sum' });
    response.write('a');
    response.addTrailers({ 'x-sum': '1' });
    response.end();
  },
};

describe('an answer', () => {
  for (const [name, handler] of Object.entries(handlers)) {
    it(`has the same bytes: ${name}`, async () => {
      await using plain = await listen(handler);
      await using api = await listen(held(handler));
      const [expected, actual] = [await raw(plain), await raw(api)];
      const line = /^ringback-subscription: sub_1\r\n/im;
      assert.match(actual, line);
      assert.deepEqual(partsOf(actual.replace(line, '')), partsOf(expected));
      assert.deepEqual([ringback.exchanges.length, errors], [1, []]);
    });
  }

  it('looks answered to the handler, as it does without the middleware', async () => {
    const seen = (sink: unknown[]): Handler => {
      return (_request, response) => {
        const wrong = [17] as unknown as [string];
        const look = (): void => void sink.push(response.headersSent, response.writableEnded);
        const attempt = (call: () => unknown): void => {
          try {
            call();
            sink.push('no error');
          } catch (error) {
            sink.push((error as NodeJS.ErrnoException).code);
          }
        };
        response.setHeader('x-a', 'b');
        look();
        attempt(() => response.write(...wrong));
        response.write('1');
        look();
        attempt(() => response.setHeader('x-b', 'c'));
        attempt(() => response.removeHeader('x-a'));
        attempt(() => response.end(...wrong));
        response.end('2');
        look();
        response.end();
        response.once('finish', look);
      };
    };
    const [expected, actual]: [unknown[], unknown[]] = [[], []];
    await using plain = await listen(seen(expected));
    await using api = await listen(held(seen(actual)));
    const bytes = await raw(plain);
    assert.deepEqual(partsOf((await raw(api)).replace(/^ringback-.*\r\n/im, '')), partsOf(bytes));
    assert.deepEqual(actual, expected);
  });

  it('fails in the handler if the platform does not accept its head', async () => {
    const handler: Handler = (_request, response) => {
      try {
        response.writeHead(201, { 'x-a': 'a\nb' });
      } catch (error) {
        response.end((error as NodeJS.ErrnoException).code);
      }
    };
    await using api = await listen(held(handler));
    assert.match(await raw(api), /ERR_INVALID_CHAR/);
  });

  it('closes the connection if the platform does not accept it in the end', async () => {
    const handler: Handler = (_request, response) => {
      response.statusMessage = 'a\nb';
      response.end();
    };
    await using api = await listen(held(handler));
    assert.equal(await raw(api).catch(() => ''), '');
  });

  it('is passed on with a warning if it takes too long from its first byte to its end', async () => {
    const goOn = Promise.withResolvers<void>();
    const handler: Handler = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: 1\n\n');
      void goOn.promise.then(() => response.end('data: 2\n\n'));
    };
    await using api = await listen(held(handler, { timeoutMs: 20 }));
    const socket = await dial(api);
    socket.write(`${requestHead}\r\n`);
    let bytes = '';
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      bytes += chunk.toString();
      if (bytes.includes('data: 1')) goOn.resolve();
    }
    assert.match(bytes, /^ringback-warning: callbacks not registered\r\n/im);
    assert.match(bytes, /data: 2/);
    assert.match(String(errors), /took longer than 20 ms/);
  });

  it('is registered although the caller has gone', async () => {
    const [gone, arrived, told] = Array.from({ length: 3 }, () => Promise.withResolvers<void>());
    assert(gone && arrived && told);
    ringback.answer = (response) => {
      registered(response);
      told.resolve();
    };
    const handler: Handler = (_request, response) => {
      response.once('close', gone.resolve);
      void gone.promise.then(() => response.end('{"jobId":1}'));
      arrived.resolve();
    };
    await using api = await listen(held(handler));
    const socket = await dial(api);
    socket.write(`${requestHead}\r\n`);
    await arrived.promise;
    socket.destroy();
    await told.promise;
    assert.deepEqual(ringback.exchanges[0]?.response.body, '{"jobId":1}');
  });

  it('is passed on whatever the host and the path are', async () => {
    await using api = await listen(held((_request, response) => void response.end('ok')));
    for (const host of ['a b', '[', '', '::']) {
      const request = `POST /jobs?%zz=\\ HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`;
      assert.match(await raw(api, request), /^HTTP\/1\.1 200 OK\r\n.*ok$/s);
    }
    assert.match(await raw(api, requestHead.replace('/jobs', '//jobs') + '\r\n'), /ok$/);
    assert.equal(ringback.exchanges.length, 4);
  });
});

/** As compression libraries do it: decides when the head is written, and wraps what writes the body. */
function compressing(handler: Handler): Handler {
  return (request, response) => {
    const real = (name: 'writeHead' | 'write' | 'end'): ((...args: unknown[]) => unknown) => {
      const method = Reflect.get(response, name);
      return (...args) => Reflect.apply(method, response, args);
    };
    const [writeHead, write, end] = [real('writeHead'), real('write'), real('end')];
    const gzip = createGzip();
    let isDecided = false;
    const decide = (): void => {
      if (isDecided) return;
      isDecided = true;
      response.setHeader('content-encoding', 'gzip');
      response.removeHeader('content-length');
      gzip.on('data', (bytes: Buffer) => write(bytes));
      gzip.on('end', () => end());
    };
    const isWritten = (): boolean => Reflect.get(response, '_header') !== null;
    const head = (): void => void (isWritten() || response.writeHead(response.statusCode));
    Object.assign(response, {
      writeHead: (...args: unknown[]) => {
        decide();
        return writeHead(...args);
      },
      write: (chunk: Buffer) => {
        head();
        return gzip.write(chunk);
      },
      end: (chunk?: Buffer) => {
        head();
        gzip.end(chunk);
        return response;
      },
    });
    handler(request, response);
  };
}

describe('an answer that is compressed', () => {
  const handler: Handler = (_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.write('{"jobId":');
    response.end('17}');
  };
  const orders: Readonly<Record<string, () => Handler>> = {
    'before it reaches the middleware': () => held(compressing(handler)),
    'after it has left the middleware': () => compressing(held(handler)),
  };
  for (const [name, order] of Object.entries(orders)) {
    it(`${name} is registered, and arrives`, async () => {
      await using api = await listen(order());
      const response = await fetch(`${api.url}/jobs`, { method: 'POST' });
      assert.equal(response.headers.get('ringback-subscription'), 'sub_1');
      assert.equal(response.headers.get('content-encoding'), 'gzip');
      assert.equal(await response.text(), '{"jobId":17}');
      assert.deepEqual(ringback.exchanges[0]?.response.body, { jobId: 17 });
    });
  }
});

describe('ringbackFetch', () => {
  const url = 'http://api.example/jobs';
  const made = async (): Promise<Response> => Response.json({ jobId: 1 }, { status: 201 });

  it('does not wait for a request body that the handler has not needed', async () => {
    const fetch = ringbackFetch(optionsFor({ timeoutMs: 20 }), made);
    const init = { method: 'POST', body: new ReadableStream(), duplex: 'half' };
    const response = await fetch(new Request(url, init));
    assert.equal(response.headers.get('ringback-warning'), 'callbacks not registered');
    assert.deepEqual(await response.json(), { jobId: 1 });
  });

  it('adds the header to an answer that came from elsewhere', async () => {
    await using api = await listen((_request, response) => void response.end('ok'));
    const fetch = ringbackFetch(optionsFor(), async () => globalThis.fetch(api.url));
    const response = await fetch(new Request(url, { method: 'POST' }));
    assert.equal(response.headers.get('ringback-subscription'), 'sub_1');
    assert.equal(await response.text(), 'ok');
  });

  it('passes the errors of the handler on, and further arguments to it', async () => {
    const fail = async (_request: Request, reason: string): Promise<Response> => {
      throw new Error(reason);
    };
    const fetch = ringbackFetch(optionsFor(), fail);
    await assert.rejects(fetch(new Request(url, { method: 'POST' }), 'no paper'), /no paper/);
  });

  const form = new FormData();
  form.set('callbackUrl', 'https://shop.example/');
  form.set('file', new Blob(['%PDF']), 'a.pdf');
  const bodies = {
    urlencoded: new URLSearchParams({ callbackUrl: 'https://shop.example/' }),
    form,
  };
  for (const [name, body] of Object.entries(bodies)) {
    it(`sends the texts of a form (${name})`, async () => {
      const fetch = ringbackFetch(optionsFor(), made);
      await fetch(new Request(url, { method: 'POST', body }));
      const [exchange] = ringback.exchanges;
      assert.deepEqual(exchange?.request.body, { callbackUrl: 'https://shop.example/' });
    });
  }
});

describe('ringbackExpress', () => {
  it('refuses operations that it cannot understand', () => {
    for (const operation of ['POST', 'post /jobs', '/jobs', 'POST jobs', 'POST /jobs?a=1']) {
      assert.throws(() => ringbackExpress(optionsFor({ operations: [operation] })), {
        message: `Cannot use "${operation}" as an operation: expected a method and a path, such as "POST /jobs"`,
      });
    }
  });
});
