// Receivers that redirect callbacks, over real connections on loopback, which the operator allows. So only the rule that
// redirects are not followed keeps a callback from the redirect target.
import { systemConnector, type Connector } from '../../../src/egress/http/connect.ts';
import { makeCertificate } from '../../egress/certificate.ts';
import { answering, ok, startReceiver } from '../../egress/receiver.ts';
import { publish, subscribe } from '../../e2e/stage.ts';
import { receive, type Receiver, type Reply, type Received } from '../../e2e/receiver.ts';
import { migratedMemory } from '../../store/migrated-memory.ts';
import type { Finding } from '../finding.ts';
import { allEnded, attemptsOf, forAll, startOn } from './stage.ts';

export interface RedirectOptions {
  statuses: readonly number[];
  events: number;
}

export const allStatuses = [200, 201, 202, 300, 301, 302, 303, 304, 305, 307, 308, 399, 401, 407];

export async function proveRedirects(options: RedirectOptions): Promise<Finding> {
  const canary = await startReceiver(answering(ok()));
  await using _canary = { [Symbol.asyncDispose]: async () => canary.stop() };
  const certificate = makeCertificate('redirect.example');
  await using plain = await receive();
  await using secure = await receive(undefined, certificate);
  const wheres = places({ canary: canary.port, plain, secure });
  plain.script = (request) => redirect(request, wheres);
  secure.script = plain.script;
  const dials = dialsBeyond([plain.port, secure.port]);
  const db = migratedMemory();
  await using service = await startOn(db, {
    // With one retry, so that state kept from the first attempt would show in the second.
    env: { RINGBACK_ALLOW_TARGETS: 'loopback', RINGBACK_RETRY: '10ms' },
    network: { connector: dials.connector, tls: { ca: certificate.certificate } },
  });
  for (const status of options.statuses) {
    const urls = Object.keys(wheres).flatMap((where) =>
      [plain, secure].map(({ url }) => new URL(`/${status}/${where}`, url).href),
    );
    // Each status has its own event, so that dozens of handshakes run at once, not hundreds.
    const event = `s${status}`;
    await forAll(urls, async (callbackUrl) => {
      await subscribe(service, { callbackUrl, event });
    });
    for (let round = 0; round < options.events; round += 1) {
      await publish(service, event);
      await allEnded(db);
    }
  }
  const attempts = await attemptsOf(db, 1);
  const made = Object.values(attempts).reduce((sum, count) => sum + count, 0);
  const requests = plain.requests.length + secure.requests.length;
  const violations = [...dials.violations];
  if (canary.seen.accepted > 0) {
    violations.push(`I15: followed: the canary saw ${canary.seen.accepted} connections`);
  }
  // There may be fewer requests than attempts if a handshake times out on a busy machine.
  if (requests > made || requests === 0) {
    violations.push(`I15: ${requests} requests came for ${made} attempts`);
  }
  const kinds = { statuses: options.statuses.length, places: Object.keys(wheres).length };
  return { part: 'redirects', figures: { ...kinds, requests, ...attempts }, violations };
}

/** Redirect targets, in every form that some HTTP client follows. */
function places(at: {
  canary: number;
  plain: Receiver;
  secure: Receiver;
}): Readonly<Record<string, Record<string, string>>> {
  const { canary, plain, secure } = at;
  const to = (location: string): Record<string, string> => ({ location });
  return {
    canary: to(`http://127.0.0.1:${canary}/`),
    'canary-by-name': to(`http://localhost:${canary}/`),
    'canary-over-tls': to(`https://127.0.0.1:${canary}/`),
    'canary-without-scheme': to(`//127.0.0.1:${canary}/`),
    'canary-in-disguise': to(`http://0x7f000001:${canary}/`),
    'canary-with-user': to(`http://127.0.0.1@127.0.0.1:${canary}/`),
    metadata: to('http://169.254.169.254/latest/meta-data/'),
    private: to('http://10.0.0.1:8080/'),
    six: to('http://[::1]:8080/'),
    'other-receiver': to(`http://127.0.0.1:${plain.port}/200/none`),
    'other-receiver-over-tls': to(`https://127.0.0.1:${secure.port}/200/none`),
    itself: to(''),
    relative: to('next'),
    file: to('file:///etc/passwd'),
    refresh: { refresh: `0; url=http://127.0.0.1:${canary}/` },
    'alt-svc': { 'alt-svc': `h2="127.0.0.1:${canary}"; ma=3600, http/1.1="127.0.0.1:${canary}"` },
    link: { link: `<http://127.0.0.1:${canary}/>; rel=preload` },
    'content-location': { 'content-location': `http://127.0.0.1:${canary}/` },
    authenticate: { 'www-authenticate': `Basic realm="http://127.0.0.1:${canary}/"` },
  };
}

function redirect({ url }: Received, wheres: Readonly<Record<string, object>>): Reply {
  const [, status = '', where = ''] = url.split(/[/?]/);
  return { status: Number(status), headers: { ...wheres[where] } };
}

/** Allows connections to these ports; any other connection means that a redirect was followed. */
function dialsBeyond(ports: readonly number[]): { connector: Connector; violations: string[] } {
  const violations: string[] = [];
  const system = systemConnector();
  return {
    violations,
    connector: {
      connect: async (target) => {
        const { address, port } = target;
        if (address === '127.0.0.1' && ports.includes(port)) return system.connect(target);
        violations.push(`I15: followed to ${address} port ${port}`);
        throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
      },
    },
  };
}
