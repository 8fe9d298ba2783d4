// Opens a portal as a customer would.
import assert from 'node:assert/strict';
import type { Call, Running } from './harness.ts';

/** Returns the token of the session. */
export async function openPortal(
  { call }: Pick<Running, 'call'>,
  link: object,
  maker: Pick<Call, 'key'> = {},
): Promise<string> {
  const ticket = await ticketFor({ call }, link, maker);
  const session = { method: 'POST', path: '/portal/session', body: { ticket }, key: null };
  const { status, json, text } = await call(session);
  assert.equal(status, 201, text);
  return String(json['token']);
}

export async function ticketFor(
  { call }: Pick<Running, 'call'>,
  link: object,
  maker: Pick<Call, 'key'> = {},
): Promise<string> {
  const made = await call({ method: 'POST', path: '/portal-links', body: link, ...maker });
  assert.equal(made.status, 201, made.text);
  const url = new URL(String(made.json['url']));
  assert.equal(url.pathname, '/portal');
  return url.hash.replace('#ticket=', '');
}
