// Puts secrets in every place where a client could put one (I16): an error response must not repeat them, and the
// log must not contain them.
import type { Attempt } from './target.ts';

export async function sendSecrets({ target, figures, violations }: Attempt): Promise<void> {
  const secret = `CANARY${'7'.repeat(30)}`;
  const json = { 'content-type': 'application/json' };
  const calls = [
    { path: '/subscriptions', key: secret },
    { path: `/subscriptions?api_key=${secret}`, key: null },
    { path: `/subscriptions?api_key=${secret}&api_key=${secret}`, key: null },
    { path: `/subscriptions?token=${secret}&limit=x` },
    { path: '/subscriptions', key: null, headers: { cookie: `X-API-KEY=${secret}` } },
    { path: '/subscriptions', key: null, headers: { cookie: `ringback_session=${secret}` } },
    { path: '/subscriptions', key: null, headers: { authorization: `Bearer ${secret}` } },
    { path: `/nowhere/${secret}?access_token=${secret}` },
    { method: 'POST', path: '/console/session', key: null, body: { key: secret } },
    { method: 'POST', path: '/console/session', key: null, body: { ticket: secret } },
    ...[
      `http://user:${secret}@127.0.0.1:9/`,
      `http://${secret}@127.0.0.1:9/`,
      `http://127.0.0.1:9/?token=${secret}`,
      `http://127.0.0.1:25/?token=${secret}`,
      `http://127.0.0.1:9/#${secret}`,
      `gopher://127.0.0.1/?${secret}`,
    ].map((callbackUrl) => ({ method: 'POST', path: '/subscribe', body: { callbackUrl } })),
    { method: 'POST', path: '/subscribe', headers: json, body: `{"callbackUrl": ${secret}` },
    {
      method: 'POST',
      path: '/events',
      body: { event: 'a.b', payload: { message: 'm' } },
      headers: { 'x-request-id': `a ${secret}` },
    },
  ];
  for (const call of calls) {
    const { status, text } = await target.call(call);
    if (status >= 500) violations.push(`I12: ${call.path}: answered ${status}`);
    if (status >= 400 && text.includes(secret)) violations.push(`I16: an answer shows it: ${text}`);
  }
  // Each request is logged before the next one is answered, so this flushes the line of the last one.
  await target.call({ path: '/healthz' });
  const log = target.log();
  const at = log.indexOf(secret);
  if (at >= 0)
    violations.push(`I16: the log shows it: ${log.slice(Math.max(at - 200, 0), at + 40)}`);
  figures['places of secrets'] = calls.length;
}
