// Checks where the service would listen (the port is free, or Ringback answers on it), and the
// public URL. Connects to no other address than the configured one.
import { once } from 'node:events';
import { createServer } from 'node:net';
import { Agent, request } from 'undici';
import type { Config } from '../../config.ts';
import { explainTargets, isLoopback } from '../../config/exposure.ts';
import { limits } from '../../core/limits/limits.ts';
import { failed, ok, reasonOf, warning, type Finding } from './finding.ts';

type Address = Pick<Config, 'host' | 'port' | 'tlsCert'>;

export async function checkPort(address: Address): Promise<Finding> {
  const { host, port } = address;
  if (port === 0) return ok('port', 'any free port');
  const error = await tryToListen(address);
  if (error === undefined) return ok('port', `${host} port ${port} is free`);
  const code = 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE') return whoseIsIt(address);
  const remedy =
    code === 'EACCES'
      ? 'Use a port above 1023, or allow this user to bind lower ones'
      : 'Set RINGBACK_HOST to an address of this machine, or to 0.0.0.0 for all interfaces';
  const message = `Cannot listen on ${host} port ${port}: ${error.message}`;
  return failed('port', { message, remedy });
}

export function checkPublicUrl({ publicUrl, host }: Pick<Config, 'publicUrl' | 'host'>): Finding {
  if (publicUrl === undefined) {
    if (isLoopback(host))
      return ok('public URL', 'not set: the service is reachable only from this machine');
    return warning('public URL', {
      message: `RINGBACK_PUBLIC_URL is not set: links and $url use "${host}" and the port`,
      remedy: 'Set RINGBACK_PUBLIC_URL to the URL clients use, such as https://hooks.example.com',
    });
  }
  const { protocol, hostname } = new URL(publicUrl);
  if (protocol === 'https:' || isLoopback(hostname)) return ok('public URL', publicUrl);
  return warning('public URL', {
    message: `RINGBACK_PUBLIC_URL is "${publicUrl}": API keys are sent unencrypted`,
    remedy: 'Serve HTTPS: set RINGBACK_TLS_CERT and RINGBACK_TLS_KEY, or terminate TLS in a proxy',
  });
}

/** Never fails: an unusual target policy may be intended. */
export function checkTargets({ targets }: Pick<Config, 'targets'>): Finding {
  return ok('targets', `callbacks can reach ${explainTargets(targets)}`);
}

async function tryToListen({ host, port }: Address): Promise<Error | undefined> {
  const server = createServer();
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, 'listening');
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  } finally {
    server.close();
  }
}

async function whoseIsIt(address: Address): Promise<Finding> {
  const url = `${originOf(address)}/healthz`;
  const answer = await askHealth(url);
  if (answer === 'ringback') return ok('port', `Ringback is already running at ${url}`);
  return failed('port', {
    message: `Port ${address.port} is in use by another program: ${answer}`,
    remedy: 'Stop that program, or set RINGBACK_PORT to another port',
  });
}

async function askHealth(url: string): Promise<string> {
  // The certificate may be for the public name, which this is not.
  const timeout = limits.doctorAnswerMs;
  const connect = { rejectUnauthorized: false, timeout };
  const dispatcher = new Agent({ connect, headersTimeout: timeout, bodyTimeout: timeout });
  try {
    const { body, headers } = await request(url, { dispatcher });
    const text = await body.text();
    const isOurs = String(headers['x-request-id']).startsWith('req_') && text.includes('"ok"');
    return isOurs ? 'ringback' : `${url} responds, but not like Ringback`;
  } catch (error) {
    return `${url} does not respond (${reasonOf(error)})`;
  } finally {
    await dispatcher.destroy();
  }
}

function originOf({ host, port, tlsCert }: Address): string {
  const scheme = tlsCert === undefined ? 'http' : 'https';
  const near = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `${scheme}://${near.includes(':') ? `[${near}]` : near}:${port}`;
}
