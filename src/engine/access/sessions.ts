// Signing in to and out of the console: with a key, or once with the ticket of the link that a
// start prints. A session has the scopes of its key, and ends with it or with the secret that it
// was opened with.
import type { App } from '../../core/domain/app.ts';
import { admits, hashKey, type Key } from '../../core/domain/key.ts';
import { limits } from '../../core/limits/limits.ts';
import { Problem } from '../../core/errors/problem.ts';
import { hashToken, makeToken, type Session } from '../../core/domain/session.ts';
import type { AuditActor } from '../../core/domain/audit.ts';
import type { EditInput } from '../../store/port/store.ts';
import { audited, type Recorded } from '../audit.ts';
import type { Context } from '../context.ts';
import type { Identifier } from './identify.ts';

/** A session with its token. Never store or log it. */
export interface OpenSession extends Session {
  token: string;
}

export type Credential = { key: string } | { ticket: string };

type Deps = Pick<Context, 'world' | 'store'>;

export interface SigningIn {
  /** Of the session of the browser so far. */
  earlierToken?: string | undefined;
  /** Where the request comes from. */
  by?: AuditActor | undefined;
}

/**
 * Ends the session of `earlierToken`: the browser is about to forget that token, and then no one
 * could end it.
 */
export async function signIn(
  context: Deps,
  identifier: Identifier,
  credential: Credential,
  { earlierToken, by }: SigningIn = {},
): Promise<{ key: Key; session: OpenSession }> {
  const found =
    'key' in credential
      ? await keyOfSecret(identifier, credential.key)
      : await keyOfTicket(context, credential.ticket);
  // The error does not reveal what was wrong.
  if (found === undefined) throw new Problem('unauthorized', refusal);
  const { key, keyHash } = found;
  if (key.customer !== undefined) throw new Problem('bound_key', notForCustomers);
  const earlier = earlierToken === undefined ? undefined : hashToken(earlierToken);
  if (earlier !== undefined) await endSession(context, identifier, { hash: earlier });
  const { token, hash } = makeToken(context.world);
  const createdMs = context.store.nowMs();
  const expiresMs = createdMs + limits.sessionMs;
  const session = { hash, keyId: key.id, keyHash, createdMs, expiresMs, portal: undefined };
  const user = by && { ...by, kind: 'session' as const, keyId: key.id };
  const audit = audited({ no: key.appNo, by: user }, 'session.started');
  await context.store.edit('createSession', { ...session, kind: 'session', audit });
  return { key, session: { ...session, token } };
}

const notForCustomers =
  'Cannot sign in to the console: the key is bound to a customer, expected a key of the whole app';

const refusal =
  'Cannot sign in: expected a valid key, or a sign-in link that is less than an hour ' +
  'old and has not been used';

export async function signOut(
  context: Deps,
  identifier: Identifier,
  { hash }: Pick<Session, 'hash'>,
  app?: Recorded,
): Promise<void> {
  await endSession(context, identifier, { hash, audit: app && audited(app, 'session.ended') });
}

async function endSession(
  { store }: Deps,
  identifier: Identifier,
  { hash, audit }: EditInput<'endSession'>,
): Promise<void> {
  await store.edit('endSession', { hash, audit });
  identifier.forgetSession({ hash });
}

/**
 * A ticket signs in once, with the app's oldest key that has the admin scope; undefined if there is
 * none.
 */
export async function makeTicket(
  { world, store }: Deps,
  app: Pick<App, 'no'>,
): Promise<string | undefined> {
  const found = await store.read('adminKey', { appNo: app.no, nowMs: world.nowMs() });
  if (found === undefined) return undefined;
  const { token, hash } = makeToken(world);
  const expiresMs = store.nowMs() + limits.ticketMs;
  await store.edit('createSession', { ...found, hash, kind: 'ticket', expiresMs });
  return token;
}

interface Found {
  key: Key;
  keyHash: Uint8Array;
}

async function keyOfSecret(identifier: Identifier, secret: string): Promise<Found | undefined> {
  const key = await identifier.identify(secret);
  return key && { key, keyHash: hashKey(secret) };
}

async function keyOfTicket({ world, store }: Deps, ticket: string): Promise<Found | undefined> {
  const hash = hashToken(ticket);
  if (hash === undefined) return undefined;
  const taken = await store.edit('takeTicket', { hash, opens: 'console' });
  if (taken.kind === 'not_found') return undefined;
  const { keyId, keyHash } = taken;
  const key = await store.read('key', { id: keyId });
  return key && admits(key, keyHash, world.nowMs()) ? { key, keyHash } : undefined;
}
