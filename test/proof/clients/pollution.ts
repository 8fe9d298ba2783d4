// Sends the same value twice, in two places or in another spelling. Which value counts and what is refused must be
// consistent, and ambiguity must never grant more than one of the values alone would.
import { tenantsOf } from '../../api/tenants.ts';
import { rawClient } from '../../api/raw-client.ts';
import type { Attempt, Target } from './target.ts';

type Lines = [string, string][];

/** Name, path, headers, status. */
type Case = readonly [name: string, path: string, headers: Lines, status: number, app?: 'a' | 'b'];

export async function sayTwice({ target, figures, violations }: Attempt): Promise<void> {
  const { newApp, make } = tenantsOf(target.call);
  const [a, b] = [await newApp('pollution a'), await newApp('pollution b')];
  const [mine, other] = [await make('subscription', a), await make('subscription', b)];
  using client = rawClient(target.url);
  const table = [...ofKeys(a.key, b.key), ...ofParameters(a.key)];
  for (const [name, path, headers, status, app] of table) {
    const answer = await client.send({ path, headers });
    if (answer.status !== status) {
      violations.push(`pollution: ${name}: answered ${answer.status}, expected ${status}`);
    }
    const shown = [answer.text.includes(mine) && 'a', answer.text.includes(other) && 'b'];
    const wrong = shown.filter((one) => one !== false && one !== (app ?? 'a'));
    if (wrong.length > 0) violations.push(`I17: ${name}: shows things of another app`);
  }
  await endTwo(
    { target, figures, violations },
    { key: a.key, ids: [mine, await make('subscription', a)] },
  );
  await publishTwice({ target, figures, violations }, a.key);
  figures['ways to say it twice'] = table.length + 2;
}

function ofKeys(key: string, other: string): Case[] {
  const path = '/subscriptions';
  const at = (...keys: string[]): Lines => keys.map((one) => ['X-API-Key', one]);
  const cookie = (...texts: string[]): Lines => texts.map((text) => ['Cookie', text]);
  const wrong = 'wrong-key-that-nobody-has-given';
  return [
    ['a header twice', path, at(key, key), 401],
    ['two keys in headers', path, at(key, other), 401],
    ['two keys in one header', path, at(`${key}, ${other}`), 401],
    ['an empty header and one with a key', path, at('', key), 401],
    ['a header in other letters', path, [['x-ApI-kEy', key]], 200],
    ['a query twice', `${path}?api_key=${key}&api_key=${key}`, [], 401],
    ['two keys in the query', `${path}?api_key=${key}&api_key=${other}`, [], 401],
    ['an empty one in the query first', `${path}?api_key=&api_key=${key}`, [], 401],
    ['a query as a list', `${path}?api_key[]=${key}`, [], 401],
    ['a query with a place', `${path}?api_key[0]=${key}`, [], 401],
    ['a query in other letters', `${path}?API_KEY=${key}`, [], 401],
    ['an encoded name', `${path}?%61pi_key=${key}`, [], 200],
    ['a name encoded once', `${path}?api_key=${other}&%61pi_key=${key}`, [], 401],
    ['a name encoded twice', `${path}?%2561pi_key=${key}`, [], 401],
    ['a semicolon between', `${path}?limit=1;api_key=${key}`, [], 401],
    ['behind the fragment', `${path}?x=1%23&api_key=`, [], 401],
    ['a zero byte behind the key', `${path}?api_key=${key}%00`, [], 401],
    ['a space behind the key', `${path}?api_key=${key}%20`, [], 401],
    ['a cookie twice', path, cookie(`X-API-KEY=${key}; X-API-KEY=${key}`), 401],
    ['two keys in a cookie', path, cookie(`X-API-KEY=${other}; X-API-KEY=${key}`), 401],
    ['two lines of cookies', path, cookie(`X-API-KEY=${key}`, `X-API-KEY=${other}`), 401],
    ['a cookie in other letters', path, cookie(`x-api-key=${key}`), 401],
    ['a cookie in quotes', path, cookie(`X-API-KEY="${key}"`), 200],
    ['a wrong header, a right query', `${path}?api_key=${key}`, at(wrong), 200],
    ['a right header, a wrong query', `${path}?api_key=${wrong}`, at(key), 200],
    ['a wrong header, a right cookie', path, [...at(wrong), ...cookie(`X-API-KEY=${key}`)], 200],
    ['headers twice, a right query', `${path}?api_key=${key}`, at(other, other), 200],
    ['two apps: the header counts', `${path}?api_key=${other}`, at(key), 200, 'a'],
    ['two apps: the header counts, again', `${path}?api_key=${key}`, at(other), 200, 'b'],
    ['two apps: no cookie counts', path, [...at(key), ...cookie(`X-API-KEY=${other}`)], 200, 'a'],
    ['a bearer, which is not asked for', path, [['Authorization', `Bearer ${key}`]], 401],
    ['half a key', path, at(key.slice(0, -1)), 401],
    ['a key and more', path, at(`${key}x`), 401],
  ];
}

function ofParameters(key: string): Case[] {
  const at: Lines = [['X-API-Key', key]];
  return [
    ['a limit twice', '/subscriptions?limit=1&limit=2', at, 400],
    ['one limit twice', '/subscriptions?limit=1&limit=1', at, 400],
    ['a limit encoded', '/subscriptions?limit=1&%6cimit=500', at, 400],
    ['a limit as a list', '/subscriptions?limit[]=1', at, 400],
    ['a limit in other letters', '/subscriptions?LIMIT=0', at, 400],
    ['a state twice', '/subscriptions?state=active&state=paused', at, 400],
    ['a cursor twice', '/subscriptions?cursor=a&cursor=b', at, 400],
    ['a broken encoding', '/subscriptions?limit=%zz', at, 400],
    ['a broken name', '/subscriptions?%ff=1', at, 400],
    ['a slash in an id', '/subscriptions/..%2fkeys', at, 404],
    ['dots in a path', '/subscriptions/../keys', at, 404],
    ['an id twice', '/subscriptions/sub_a,sub_b', at, 404],
  ];
}

/** Neither may be ended: the request does not say which of the two is meant. */
async function endTwo(
  { target, violations }: Attempt,
  { key, ids }: { key: string; ids: readonly string[] },
): Promise<void> {
  const path = `/unsubscribe?${ids.map((id) => `Id=${id}`).join('&')}`;
  const { status } = await target.call({ method: 'POST', path, key });
  if (status !== 400) violations.push(`pollution: two ids to unsubscribe: answered ${status}`);
  for (const id of ids) {
    const { json } = await target.call({ path: `/subscriptions/${id}`, key });
    if (json['state'] !== 'active') violations.push('pollution: one of two ids was unsubscribed');
  }
}

async function publishTwice({ target, violations }: Attempt, key: string): Promise<void> {
  using client = rawClient(target.url);
  const send = async (): Promise<unknown> => {
    const { json, status } = await client.send({
      method: 'POST',
      path: '/events',
      headers: [
        ['X-API-Key', key],
        ['Content-Type', 'application/json'],
        ['Idempotency-Key', 'one'],
        ['Idempotency-Key', 'two'],
      ],
      body: '{"event":"a.b","payload":{"message":"m"}}',
    });
    return status === 202 ? json['eventId'] : status;
  };
  if ((await send()) !== (await send())) {
    violations.push('I13: two idempotency keys in one request: the event was published twice');
  }
}

export const appIdEnv = { RINGBACK_REQUIRE_APP_ID: 'on' } as const;

/** The security requirement is an AND: the key and the app must both be right. */
export async function askWithAppId({ target, figures, violations }: Attempt): Promise<void> {
  const { key, appId } = target;
  const { newApp } = tenantsOf(withAppId(target));
  const other = await newApp('another');
  using client = rawClient(target.url);
  const own: Lines = [['X-API-Key', key]];
  const table: Case[] = [
    ['both', '/subscriptions', [...own, ['X-APP-ID', appId]], 200],
    ['the key alone', '/subscriptions', own, 401],
    ['the app alone', '/subscriptions', [['X-APP-ID', appId]], 401],
    ['another app', '/subscriptions', [...own, ['X-APP-ID', other.appId]], 401],
    ['the app twice', '/subscriptions', [...own, ['X-APP-ID', appId], ['X-APP-ID', appId]], 401],
    ['two apps', '/subscriptions', [...own, ['X-APP-ID', `${appId}, ${other.appId}`]], 401],
    ['the app in the query', `/subscriptions?X-APP-ID=${appId}`, own, 401],
    ['the key in the query alone', `/subscriptions?api_key=${key}`, [], 401],
    ['the key in a cookie alone', '/subscriptions', [['Cookie', `X-API-KEY=${key}`]], 401],
    [
      'a wrong key',
      '/subscriptions',
      [
        ['X-API-Key', other.key],
        ['X-APP-ID', appId],
      ],
      401,
    ],
  ];
  for (const [name, path, headers, status] of table) {
    const answer = await client.send({ path, headers });
    if (answer.status !== status) {
      violations.push(`security: ${name}: answered ${answer.status}, expected ${status}`);
    }
  }
  figures['ways to ask where two things must hold'] = table.length;
}

function withAppId({ call, appId }: Target): Target['call'] {
  return async (one) => call({ ...one, headers: { 'x-app-id': appId, ...one.headers } });
}
