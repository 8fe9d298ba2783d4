// A request that stays in progress until the test sends its body, for tests of how the service stops.
import { connect } from 'node:net';

export interface InFlight {
  /** Sends the body; resolves with the whole response once the service has closed the connection. */
  finish: () => Promise<string>;
  closed: Promise<void>;
}

const body = '{"callbackUrl":"http://127.0.0.1:9000/"}';

/** Sends a request without its body. `100 Continue` proves that the service is processing it. */
export async function startRequest(url: string, key: string): Promise<InFlight> {
  const { hostname, port, host } = new URL(url);
  const head = [
    'POST /subscribe HTTP/1.1',
    `Host: ${host}`,
    `X-API-Key: ${key}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    'Expect: 100-continue',
  ];
  const socket = connect(Number(port), hostname);
  let text = '';
  const continued = Promise.withResolvers<void>();
  const closed = new Promise<void>((resolve) => {
    socket.on('error', () => undefined); // A reset also closes the connection.
    socket.on('close', () => resolve());
  });
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString();
    if (text.startsWith('HTTP/1.1 100 ')) continued.resolve();
  });
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  await continued.promise;
  return {
    finish: async () => {
      text = '';
      socket.write(body);
      await closed;
      return text;
    },
    closed,
  };
}
