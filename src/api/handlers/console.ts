// Serves the console's files. The page is the same for everyone, signed in or not: its data comes
// from the API, with the user's own credentials.
import type { Message } from '../../contract/expression/evaluate.ts';
import { withPrefix } from '../../core/base/id.ts';
import { admitsUntilMs, type Key } from '../../core/domain/key.ts';
import { Problem } from '../../core/errors/problem.ts';
import { getApp } from '../../engine/access/apps.ts';
import type { Identifier } from '../../engine/access/identify.ts';
import {
  signIn,
  signOut,
  type Credential,
  type OpenSession,
} from '../../engine/access/sessions.ts';
import type { Context } from '../../engine/context.ts';
import type { ConsoleFiles } from '../console/files.ts';
import type { Handlers, Reply, Call } from '../request/call.ts';
import * as fields from '../request/fields.ts';
import { fileReply, forever, shieldHeaders } from './file-reply.ts';

/** `files` is undefined if the console was not built. */
export function consoleHandlers(files: ConsoleFiles | undefined): Handlers {
  const page = (request: Message): Reply =>
    files === undefined ? notBuilt : fileReply(files.page, { request, caching: 'no-cache' });
  return {
    getConsole: async ({ request }) => page(request),
    getConsolePage: async ({ request }) => {
      const name = fields.pathText(request, 'page');
      if (!pages.includes(name)) throw noPage(name);
      return page(request);
    },
    getConsoleFile: async ({ request }) => {
      const name = fields.pathText(request, 'file');
      const file = files?.assets.get(name);
      if (file === undefined) throw new Problem('not_found', `The console has no file "${name}"`);
      return fileReply(file, { request, caching: forever });
    },
  };
}

/** Below `/console`; the overview is `/console` itself. */
const pages: readonly string[] = [
  'deliveries',
  'subscriptions',
  'customers',
  'events',
  'replays',
  'keys',
  'audit',
  'search',
  'contract',
  'sign-in',
];

function noPage(name: string): Problem {
  const expected = pages.join(', ');
  return new Problem('not_found', `The console has no page "${name}", expected ${expected}`);
}

export const notBuilt: Reply = {
  status: 503,
  headers: { ...shieldHeaders(), 'retry-after': '60' },
  mediaType: 'text/plain',
  body: 'The console is not built. Run `npm run console`, then restart the service.\n',
};

// Handlers of console sessions. The token travels in a cookie that scripts cannot read; it must not
// appear in a body or a log.

interface SessionDeps {
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
      const earlierToken = call.cookie(cookieName);
      const { by } = call.app;
      const signedInAs = await signIn(context, identifier, credentialIn(call), {
        earlierToken,
        by,
      });
      return reply(call, 201, signedInAs);
    },
    // Sets the cookie again, so that the browser keeps it as long as the session lasts.
    getSession: async (call) => reply(call, 200, signedIn(call)),
    signOut: async (call) => {
      await signOut(context, identifier, signedIn(call).session, call.app);
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
