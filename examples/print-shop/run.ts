// Starts the API, and Ringback in front of it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { port, requireKey, ringbackPort } from './settings.ts';
import { shop } from './shop.ts';

requireKey();
const server = shop.listen(port, '127.0.0.1');
await once(server, 'listening');
const address = server.address();
const realPort = typeof address === 'object' && address !== null ? address.port : port;
const upstream = `http://127.0.0.1:${realPort}`;
console.log(`The print shop listens on ${upstream}`);

const program = fileURLToPath(
  new URL('bin/ringback.js', import.meta.resolve('ringback/package.json')),
);
const contract = fileURLToPath(new URL('printing.yaml', import.meta.url));
const args = [
  'serve',
  '--contract',
  contract,
  '--upstream',
  upstream,
  '--port',
  String(ringbackPort),
];
const ringback = spawn(process.execPath, [program, ...args], { stdio: 'inherit' });
// Ctrl-C in a terminal reaches Ringback, too.
process.once('SIGINT', () => undefined);
process.once('SIGTERM', () => ringback.kill());
await once(ringback, 'exit');
server.close();
