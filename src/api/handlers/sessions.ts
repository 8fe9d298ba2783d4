// Handlers of console sessions. The token travels in a cookie that scripts cannot read; it must not
// appear in a body or a log.
import { withPrefix } from '../../core/base/id.ts';
import { admitsUntilMs, type Key } from '../../core/domain/key.ts';
import { Problem } from '../../core/errors/problem.ts';
import { getApp } from '../../engine/access/apps.ts';
import type { Context } from '../../engine/context.ts';
import type { Identifier } from '../../engine/access/identify.ts';
import {
  signIn,
  signOut,
  type Credential,
  type OpenSession,
} from '../../engine/access/sessions.ts';
import type { Call, Handlers, Reply } from '../request/call.ts';
import * as fields from '../request/fields.ts';

export interface SessionDeps {
  context: Context;
  identifier: Identifier;
  publicUrl: () => string;
}

interface SignedIn {
  key: Key;
  session: OpenSession;
}

export function sessionHandlers({ context, identifier, publicUrl }: SessionDeps): Handlers {
  const isSecure = (call: Call): boolean => call.isSecure || publicUrl().startsWith('https:');
  const reply = async (call: Call, status: number, who: SignedIn): Promise<Reply> => {
    const { key, session } = who;
    const appId = withPrefix('app', key.appId);
    const { name: appName } = await getApp(context, appId);
    const expiresMs = Math.min(session.expiresMs, admitsUntilMs(key, session.keyHash));
    const leftMs = expiresMs - context.store.nowMs();
    const body = {
      appId,
      appName,
      keyId: `rbk_${key.id}`,
      keyName: key.name,
      scopes: key.scopes,
      expiresAt: fields.time(expiresMs),
    };
    const setCookie = cookie({ value: session.token, leftMs, isSecure: isSecure(call) });
    return { status, headers: { 'set-cookie': setCookie }, body };
  };
  return {
    signIn: async (call) => {
      const fault = call.crossOriginFault();
      if (fault !== undefined) throw new Problem('cross_origin', `Cannot sign in: ${fault}`);
      const earlier = call.cookie(cookieName);
      return reply(call, 201, await signIn(context, identifier, credentialIn(call), earlier));
    },
    // Sets the cookie again, so that the browser keeps it as long as the session lasts.
    getSession: async (call) => reply(call, 200, signedIn(call)),
    signOut: async (call) => {
      await signOut(context, identifier, signedIn(call).session);
      const setCookie = cookie({ value: '', leftMs: 0, isSecure: isSecure(call) });
      return { status: 204, headers: { 'set-cookie': setCookie } };
    },
  };
}

function credentialIn({ request }: Call): Credential {
  const body = fields.bodyFields(request);
  const ticket = fields.optionalText(body, 'ticket');
  return ticket === undefined ? { key: fields.text(body, 'key') } : { ticket };
}

/** The contract admits sessions only. */
function signedIn({ key, session }: Call): SignedIn {
  if (key === undefined || session === undefined) throw new TypeError('expected a session');
  return { key, session };
}

const cookieName = 'ringback_session';

function cookie(given: { value: string; leftMs: number; isSecure: boolean }): string {
  const { value, leftMs, isSecure } = given;
  return [
    `${cookieName}=${value}`,
    'Path=/',
    `Max-Age=${Math.max(0, Math.floor(leftMs / 1000))}`,
    'HttpOnly',
    'SameSite=Strict',
    ...(isSecure ? ['Secure'] : []),
  ].join('; ');
}
