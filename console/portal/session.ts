// The session of a customer: a ticket in the address is redeemed for a token, which is sent in a header, because
// browsers refuse cookies in frames of other sites.
import { effect, signal } from '@preact/signals';
import type { Abilities, PortalLanguage, PortalTheme } from '../../src/client/contract/access.ts';
import { ApiProblem, get, send, sendSessionIn, signedOutCount } from '../src/api.ts';
import { setProduct } from '../src/words.ts';
import { applyAccent } from './accent.ts';
import { loadedStrings, loadStrings } from './language.ts';
import { route } from './route.ts';

/** The response of GET and POST /portal/session, which the client library does not cover. */
export type PortalSession = {
  readonly appName: string;
  readonly customer: string;
  readonly can: Abilities;
  readonly expiresAt: string;
  readonly theme: PortalTheme;
  readonly language?: PortalLanguage;
  /** Whether the service has the operation that adds endpoints. */
  readonly addsEndpoints: boolean;
  readonly brand: { readonly name?: string; readonly accent?: string; readonly logo?: string };
};

export type SessionState =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'failed'; readonly problem: ApiProblem }
  /** `link`: the ticket is used or expired; `over`: the session ended; `none`: there is neither. */
  | { readonly kind: 'out'; readonly why: 'link' | 'over' | 'none' | 'ended' }
  | { readonly kind: 'in'; readonly session: PortalSession };

export const sessionState = signal<SessionState>({ kind: 'unknown' });

export function can(right: Abilities[number]): boolean {
  const state = sessionState.value;
  return state.kind === 'in' && state.session.can.includes(right);
}

export function canAdd(): boolean {
  const state = sessionState.value;
  return can('manage') && state.kind === 'in' && state.session.addsEndpoints;
}

/** Before the router reads the address again: a ticket is taken out of it at once. */
const ticket = takeTicket();

export async function startSession(): Promise<void> {
  effect(() => {
    if (signedOutCount.value > 0 && sessionState.peek().kind === 'in') leave('over');
  });
  await openSession();
}

/** Also called by the button that tries again. */
export async function openSession(): Promise<void> {
  sendSessionIn({});
  const kept = readKept();
  // The ticket of a page that was reloaded in its frame. Another one may be of another customer, so it counts alone.
  const isKept = kept !== undefined && (ticket === undefined || ticket === kept.ticket);
  try {
    if (isKept) await resume(kept.token);
    else if (ticket !== undefined) await redeem(ticket);
    else {
      await loadStrings();
      sessionState.value = { kind: 'out', why: 'none' };
    }
  } catch (error) {
    const hadStrings = await loadedStrings();
    if (!(error instanceof ApiProblem)) {
      // The failure could not be described without them.
      if (!hadStrings) return await openSession();
      throw error;
    }
    const isRefused = error.status >= 400 && error.status < 500 && error.status !== 429;
    if (isRefused) leave(isKept ? 'over' : 'link');
    else sessionState.value = { kind: 'failed', problem: error };
  }
}

export async function endSession(): Promise<void> {
  await send<void>('DELETE', '/portal/session');
  leave('ended');
}

async function redeem(given: string): Promise<void> {
  type Answer = { readonly token: string; readonly session: PortalSession };
  const { token, session } = await send<Answer>('POST', '/portal/session', {
    body: { ticket: given },
  });
  sendSessionIn(headerOf(token));
  keep({ token, ticket: given });
  await enter(session);
}

async function resume(token: string): Promise<void> {
  sendSessionIn(headerOf(token));
  await enter(await get<PortalSession>('/portal/session'));
}

function headerOf(token: string): Record<string, string> {
  return { 'x-portal-session': token };
}

async function enter(session: PortalSession): Promise<void> {
  document.documentElement.dataset['theme'] = session.theme;
  applyAccent(session.brand.accent);
  await loadStrings(session.language);
  setProduct(session.brand.name ?? session.appName);
  sessionState.value = { kind: 'in', session };
}

function leave(why: 'link' | 'over' | 'ended'): void {
  sendSessionIn({});
  keep(undefined);
  sessionState.value = { kind: 'out', why };
}

function takeTicket(): string | undefined {
  const given = new URLSearchParams(location.hash.slice(1)).get('ticket');
  if (given === null) return undefined;
  history.replaceState(null, '', '#/endpoints');
  route.value = { path: 'endpoints', query: new URLSearchParams() };
  return given;
}

type Kept = { readonly token: string; readonly ticket: string };

const storageKey = 'ringback.portal';

/** Survives a reload of this tab. Browsers may refuse storage in a frame; then the session lasts as long as the page. */
function keep(kept: Kept | undefined): void {
  try {
    if (kept === undefined) sessionStorage.removeItem(storageKey);
    else sessionStorage.setItem(storageKey, JSON.stringify(kept));
  } catch {
    // Nothing to do: the token is in memory.
  }
}

function readKept(): Kept | undefined {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(storageKey) ?? 'null');
    if (typeof kept !== 'object' || kept === null) return undefined;
    if (!('token' in kept && 'ticket' in kept)) return undefined;
    return { token: String(kept.token), ticket: String(kept.ticket) };
  } catch {
    return undefined;
  }
}
