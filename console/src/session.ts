// The current session and the scopes of its key. The cookie itself is not readable by scripts.
import { computed, effect, signal } from '@preact/signals';
import { ApiProblem, get, send, signedOutCount } from './api.ts';
import type { Scope } from './api-keys/scopes.ts';
import { limits } from './limits.ts';
import { follow, signedOut } from './other-tab.ts';
import { navigate, param, route } from './router.ts';
import { onStored, readStored, writeStored } from './local-storage.ts';

/** The response of GET and POST /console/session, which the client library does not cover. */
export type Session = {
  readonly appId: string;
  readonly appName: string;
  readonly keyId: string;
  readonly keyName: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt: string;
};

export type SessionState =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'failed'; readonly problem: ApiProblem }
  | { readonly kind: 'out' }
  | { readonly kind: 'in'; readonly session: Session };

export const sessionState = signal<SessionState>({ kind: 'unknown' });

export const session = computed(() =>
  sessionState.value.kind === 'in' ? sessionState.value.session : undefined,
);

export const signInPath = '/console/sign-in';

/** Whether the key may do what needs the scope. `admin` includes `retry`. */
export function can(scope: Scope): boolean {
  const scopes = session.value?.scopes ?? [];
  return scopes.includes(scope) || (scope === 'retry' && scopes.includes('admin'));
}

/** Loads the session. A ticket in the address is redeemed first and removed from the address. */
export async function startSession(): Promise<void> {
  effect(() => {
    if (signedOutCount.value > 0 && sessionState.peek().kind === 'in') requireSignIn();
  });
  onStored('session', onOtherTab);
  for (const use of ['pointerdown', 'keydown']) addEventListener(use, renew, { capture: true });
  const ticket = removeTicket();
  if (ticket !== undefined) return await signInByLink(ticket);
  const stored = readStored('session');
  // A request while signed out would only log a failed request in the browser console.
  if (stored === signedOut) requireSignIn();
  // Nothing is stored in this browser, and nothing is written: a session may still exist.
  else if (stored === undefined && route.value.path === signInPath) {
    sessionState.value = { kind: 'out' };
  } else await readSession();
}

let readMs = Date.now();

/**
 * Renews the session of a page that is in use, so that it does not end mid-work. An idle page may
 * expire.
 */
function renew(): void {
  const isDue = Date.now() - readMs >= limits.renewEveryMs;
  if (isDue && sessionState.peek().kind === 'in') void readSession();
}

/** Only a 401 signs out. Another failure is shown only if no page is open yet. */
export async function readSession(): Promise<void> {
  readMs = Date.now();
  const before = sessionState.peek().kind;
  try {
    const read = await get<Session>('/console/session');
    // A late response must not sign in a user who signed out meanwhile.
    if (before !== 'in' || sessionState.peek().kind === 'in') enter(read);
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    const { kind } = sessionState.peek();
    if (error.status === 401) requireSignIn();
    // Keep an open page: it may show a one-time secret or hold unsaved input.
    else if (kind === 'unknown' || kind === 'failed') {
      sessionState.value = { kind: 'failed', problem: error };
    }
  }
}

export async function signIn(secret: { key: string } | { ticket: string }): Promise<void> {
  enter(await send<Session>('POST', '/console/session', { body: secret }));
}

export async function signOut(): Promise<void> {
  await send<void>('DELETE', '/console/session');
  forget();
  navigate(signInPath);
}

/** The session ended with its key, so there is nothing to tell the service. */
export function endSession(): void {
  forget();
  navigate(signInPath);
}

/** Why the sign-in link failed, for the sign-in page. */
export const linkProblem = signal<ApiProblem | undefined>(undefined);

async function signInByLink(ticket: string): Promise<void> {
  try {
    await signIn({ ticket });
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    // A user who opens the link twice is usually signed in already.
    await readSession();
    if (sessionState.value.kind === 'out') linkProblem.value = error;
  }
}

function removeTicket(): string | undefined {
  const ticket = new URLSearchParams(location.hash.slice(1)).get('ticket');
  if (ticket === null) return undefined;
  history.replaceState(null, '', location.pathname + location.search);
  return ticket;
}

function enter(entered: Session): void {
  const now = sessionState.peek();
  if (now.kind === 'in' && now.session.keyId !== entered.keyId) return location.reload();
  sessionState.value = { kind: 'in', session: entered };
  linkProblem.value = undefined;
  writeStored('session', entered.keyId);
  if (route.value.path === signInPath) navigate(returnPath(), { replace: true });
}

function onOtherTab(stored: string | undefined): void {
  switch (follow(sessionState.peek(), stored)) {
    case 'stay':
      return;
    case 'read':
      return void readSession();
    case 'reload':
      return location.reload();
  }
}

/** Asks to sign in, and remembers the page to return to. */
function requireSignIn(): void {
  forget();
  if (route.value.path === signInPath) return;
  const from = route.value.path + location.search;
  const href = from === '/console' ? signInPath : `${signInPath}?to=${encodeURIComponent(from)}`;
  navigate(href, { replace: true });
}

function forget(): void {
  sessionState.value = { kind: 'out' };
  writeStored('session', signedOut);
}

/** Only console pages: a crafted link must not redirect elsewhere after sign-in. */
function returnPath(): string {
  const to = param('to') ?? '/console';
  return /^\/console(?:[/?]|$)/u.test(to) && !to.startsWith(signInPath) ? to : '/console';
}
