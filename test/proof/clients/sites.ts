// Cross-site requests: a signed-in user visits a hostile page. Nothing that the page can make the browser send, to
// any operation, may change anything.
import { cases, isRefused, publicUrl, types, type Case } from '../../api/origin-cases.ts';
import { rawClient, type RawClient } from '../../api/raw-client.ts';
import { random, idParameter, isOfNobody, kindOf } from '../../api/tenants.ts';
import { requestsOf, stateOf, type Request } from './operations.ts';
import type { Attempt, Target } from './target.ts';

export const sitesEnv = {
  RINGBACK_PUBLIC_URL: publicUrl,
  RINGBACK_ALLOW_TARGETS: 'loopback',
} as const;

/** `oneIn`: try every n-th cell of the matrix. */
export async function askFromElsewhere(
  { target, figures, violations }: Attempt,
  oneIn = 1,
): Promise<void> {
  using client = rawClient(target.url);
  const session = await signIn(client, target);
  const cookies = [session, `X-API-KEY=${target.key}`];
  const requests = await requestsOf(target);
  const cells = cases.filter(({ carrier }) => carrier === 'cookie');
  const before = await stateOf(target);
  let refused = 0;
  let passed = 0;
  let n = 0;
  for (const request of requests) {
    for (const cell of cells.filter(({ method }) => method === request.method)) {
      for (const cookie of cookies) {
        n += 1;
        if (n % oneIn !== 0) continue;
        if (request.method === 'GET') {
          if (cell.type === 'none') await client.send(rawCall(request, cell, cookie));
        } else if (isRefused(cell)) {
          refused += 1;
          const { status, json, headers } = await client.send(rawCall(request, cell, cookie));
          const name = `${request.operation.operationId} ${JSON.stringify(cell)}`;
          // Operations without a key read the body first, so an error in the body may be reported first.
          // Operations that only take a session ignore a key in a cookie, and those of the portal ignore all cookies.
          const { security, path } = request.operation;
          const isOpen = security.length === 0;
          const isOfPortal = path.startsWith('/portal/');
          const isUnasked = isOfPortal || (security.length === 1 && cookie !== session);
          const isEarly = (isOpen && [400, 415].includes(status)) || (isUnasked && status === 401);
          if (!isEarly && (status !== 403 || json['code'] !== 'cross_origin')) {
            violations.push(`cross-origin: ${name}: answered ${status}`);
          }
          if (headers['access-control-allow-origin'] !== undefined) {
            violations.push(`cross-origin: ${name}: another site may read the response`);
          }
        } else if (request.operation.operationId !== 'signOut') {
          passed += 1;
          const { status } = await client.send(rawCall(harmless(request), cell, cookie));
          if (status === 403) violations.push(`same origin: refused ${JSON.stringify(cell)}`);
        }
      }
    }
  }
  if ((await stateOf(target)) !== before) violations.push('cross-origin: something has changed');
  const still = await client.send({ path: '/console/session', headers: [['Cookie', session]] });
  if (still.status !== 200) violations.push('cross-origin: the session was ended');
  figures['cells that must be refused'] = refused;
  figures['cells that must pass'] = passed;
  figures['operations that change something'] = requests.filter(
    ({ method }) => method !== 'GET',
  ).length;
}

async function signIn(client: RawClient, { key }: Target): Promise<string> {
  const { status, headers, text } = await client.send({
    method: 'POST',
    path: '/console/session',
    headers: [
      ['Content-Type', 'application/json'],
      ['Origin', publicUrl],
    ],
    body: JSON.stringify({ key }),
  });
  if (status !== 201) throw new Error(text);
  return headers['set-cookie']?.[0]?.split(';')[0] ?? '';
}

function rawCall(
  { method, path, body = '{}' }: Pick<Request, 'method' | 'path' | 'body'>,
  { site, origin, type }: Case,
  cookie: string,
): Parameters<RawClient['send']>[0] {
  const mediaType = types[type];
  const headers: [string, string][] = [['Cookie', cookie]];
  if (site !== undefined) headers.push(['Sec-Fetch-Site', site]);
  if (origin !== undefined) headers.push(['Origin', origin]);
  if (mediaType !== undefined) headers.push(['Content-Type', mediaType]);
  return { method, path, headers, ...(type === 'none' ? {} : { body }) };
}

/** The same request with an unknown id or an invalid body, so that it changes nothing if it is let in. */
function harmless({ operation, method, path }: Request): Request {
  const body = '{"nothing":1}';
  if (idParameter(operation) === undefined || isOfNobody(operation)) {
    return { operation, method, path, body };
  }
  const to = path.replace(/(?:sub|evt|dlv|rpl|rbk|app)_\w+/, random(kindOf(operation)));
  return { operation, method, path: to, body };
}
