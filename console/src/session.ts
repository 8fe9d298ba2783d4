// Who is signed in, and what that key may do. The cookie itself is out of reach for scripts.
import { computed, effect, signal } from '@preact/signals';
import { ApiProblem, get, send, signedOutCount } from './api.ts';
import type { Scope } from './api-keys/scopes.ts';
import { limits } from './limits.ts';
import { follow, signedOut } from './other-tab.ts';
import { navigate, param, route } from './router.ts';
import { onStored, readStored, writeStored } from './local-storage.ts';

/** The answer of GET and POST /console/session, which the client library does not cover. */
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

/** Whether the key may; scopes do not include each other. */
export function can(scope: Scope): boolean {
  return session.value?.scopes.includes(scope) ?? false;
}

/** Reads who is signed in. A ticket in the address is used first, and must not stay there. */
export async function startSession(): Promise<void> {
  effect(() => {
    if (signedOutCount.value > 0 && sessionState.peek().kind === 'in') leave();
  });
  onStored('session', onOtherTab);
  for (const use of ['pointerdown', 'keydown']) addEventListener(use, renew, { capture: true });
  const ticket = takeTicket();
  if (ticket !== undefined) return await signInByLink(ticket);
  const stored = readStored('session');
  // Asking while signed out only leaves a failed request in the browser's log.
  if (stored === signedOut) leave();
  // Nothing is known of this browser, so nothing is noted either: a session may be there.
  else if (stored === undefined && route.value.path === signInPath) {
    sessionState.value = { kind: 'out' };
  } else await readSession();
}

let readMs = Date.now();

/** A page that stands open and is used must not end amid the work; one that is only open may. */
function renew(): void {
  const isDue = Date.now() - readMs >= limits.renewEveryMs;
  if (isDue && sessionState.peek().kind === 'in') void readSession();
}

/** Only an answer that says so signs out. Another failure is shown where nothing else is to be seen. */
export async function readSession(): Promise<void> {
  readMs = Date.now();
  const before = sessionState.peek().kind;
  try {
    const read = await get<Session>('/console/session');
    // Whoever signed out meanwhile is not led in again by an answer that is late.
    if (before !== 'in' || sessionState.peek().kind === 'in') enter(read);
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    const { kind } = sessionState.peek();
    if (error.status === 401) leave();
    // A page that is open stays: it may show a secret this once, or hold a half-written text.
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

/** The session has ended with its key: there is nothing left to ask the service. */
export function endSession(): void {
  forget();
  navigate(signInPath);
}

/** Why the link did not sign in, for the page that asks for a key instead. */
export const linkProblem = signal<ApiProblem | undefined>(undefined);

async function signInByLink(ticket: string): Promise<void> {
  try {
    await signIn({ ticket });
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    // Whoever opens the link again is often signed in already.
    await readSession();
    if (sessionState.value.kind === 'out') linkProblem.value = error;
  }
}

function takeTicket(): string | undefined {
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
  if (route.value.path === signInPath) navigate(wayBack(), { replace: true });
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

/** Signed out without having wished it: whoever signs in again comes back here. */
function leave(): void {
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

/** Only pages of the console: a link must not lead elsewhere through the sign-in. */
function wayBack(): string {
  const to = param('to') ?? '/console';
  return /^\/console(?:[/?]|$)/u.test(to) && !to.startsWith(signInPath) ? to : '/console';
}
