// Tenants that try to exceed their key: they call back to the host behind a proxy, manage keys with other scopes,
// and guess the ids of other tenants.
import type { Attempt, Target } from './target.ts';

/** An installation behind a proxy: the service itself listens on loopback. */
export const proxiedEnv = {
  RINGBACK_TRUST_PROXY: 'on',
  RINGBACK_PUBLIC_URL: 'https://hooks.example',
} as const;

const insideUrls = [
  'http://127.0.0.1:2375/containers/json',
  'http://127.0.0.2:8080/',
  'http://localhost:9000/',
  'http://[::1]:9000/',
  'http://[::ffff:127.0.0.1]:9000/',
  'http://10.0.0.1/',
  'http://169.254.169.254/latest/meta-data',
];

export async function overreach(attempt: Attempt, { ids = 60 } = {}): Promise<void> {
  await reachInside(attempt);
  await manageOthers(attempt);
  await guessIds(attempt, ids);
}

async function reachInside({ target, figures, violations }: Attempt): Promise<void> {
  for (const callbackUrl of insideUrls) {
    const { status } = await subscribe(target, callbackUrl);
    if (status !== 422) {
      violations.push(`I15: behind a proxy ${callbackUrl}: answered ${status}, expected 422`);
    }
  }
  figures['URLs of the machine and its network'] = insideUrls.length;
}

async function manageOthers({ target, figures, violations }: Attempt): Promise<void> {
  const make = async (scopes: readonly string[], key = target.key): ReturnType<Target['call']> =>
    target.call({ method: 'POST', path: '/keys', key, body: { name: 'one', scopes } });
  const admin = String((await make(['read', 'admin'])).json['key']);
  let tries = 0;
  for (const scopes of [['operator'], ['publish'], ['read', 'subscribe'], ['admin', 'operator']]) {
    const { json } = await make(scopes);
    const [path, key] = [`/keys/${String(json['id'])}`, admin];
    const answers = [
      await make(scopes, admin),
      await target.call({ method: 'POST', path: `${path}/rotate`, key }),
      await target.call({ method: 'DELETE', path, key }),
    ];
    tries += answers.length;
    const statuses = answers.map(({ status }) => status).join();
    if (statuses !== '403,403,403') {
      violations.push(
        `keys: a key with ${scopes.join()} was managed by one without them: ${statuses}`,
      );
    }
    const { state } = (await target.call({ path })).json;
    if (state !== 'active')
      violations.push(`keys: a key with ${scopes.join()} is ${String(state)}`);
  }
  figures['keys of other scopes, tried'] = tries;
}

/** Requests and subscriptions share one id generator, and every response shows one id of each. */
async function guessIds({ target, figures, violations }: Attempt, count: number): Promise<void> {
  const url = 'https://203.1.1.1/'; // Public, but never called: nothing is published.
  const answers = await Promise.all(
    Array.from({ length: count }, async () => subscribe(target, url)),
  );
  const ids = answers.flatMap(({ json, headers }) =>
    [String(json['subscriberId']), headers.get('x-request-id') ?? ''].map((id) => id.slice(4)),
  );
  const sorted = [...new Set(ids)].sort();
  const pairs = sorted.slice(1).map((id, at) => [sorted[at] ?? '', id] as const);
  const close = pairs.filter(([one, next]) => one.slice(0, 10) === next.slice(0, 10));
  const near = close.filter(([one, next]) => chanceIn(next) - chanceIn(one) < 2n ** 41n);
  if (near.length > 0) {
    violations.push(
      `ids: ${near.length} of ${close.length} are close to the previous id: ${String(near[0])}`,
    );
  }
  figures['ids of one millisecond, compared'] = close.length;
}

async function subscribe(target: Target, callbackUrl: string): ReturnType<Target['call']> {
  return target.call({ method: 'POST', path: '/subscribe', body: { callbackUrl } });
}

function chanceIn(id: string): bigint {
  const digits = '0123456789abcdefghjkmnpqrstvwxyz';
  let sum = 0n;
  for (const digit of id.slice(10)) sum = sum * 32n + BigInt(digits.indexOf(digit));
  return sum;
}
