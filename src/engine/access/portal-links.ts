// Links to the portal of a customer. A link carries a ticket, which opens a session once. The session acts as a key that
// is bound to the customer, and ends with the key that made the link.
import type { AuditActor } from '../../core/domain/audit.ts';
import { admits, holds, scopesBeyond, type Key } from '../../core/domain/key.ts';
import {
  hashToken,
  makeToken,
  scopesOf,
  type PortalGrant,
  type Session,
} from '../../core/domain/session.ts';
import { Problem } from '../../core/errors/problem.ts';
import { limits } from '../../core/limits/limits.ts';
import { audited, type Recorded } from '../audit.ts';
import type { Context } from '../context.ts';
import type { OpenSession } from './sessions.ts';

type Deps = Pick<Context, 'world' | 'store'>;

export interface PortalLinkInput extends Omit<PortalGrant, 'untilMs'> {
  lastsMs: number;
}

export interface PortalLink {
  ticket: string;
  grant: PortalGrant;
}

export async function createPortalLink(
  { world, store }: Deps,
  { key, app }: { key: Key; app: Recorded },
  { lastsMs, ...input }: PortalLinkInput,
): Promise<PortalLink> {
  refuseBeyond(key, input);
  const nowMs = store.nowMs();
  const grant = { ...input, untilMs: nowMs + lastsMs };
  const { token, hash } = makeToken(world);
  const expiresMs = Math.min(nowMs + limits.ticketMs, grant.untilMs);
  const ticket = { hash, kind: 'ticket', keyId: key.id, keyHash: key.hash, expiresMs } as const;
  const { customer } = grant;
  const audit = audited(app, 'portal_link.created', { customer });
  await store.edit('createSession', { ...ticket, portal: grant, audit });
  return { ticket: token, grant };
}

/** A link gives nothing that its maker does not have. */
function refuseBeyond(key: Key, { can }: Pick<PortalGrant, 'can'>): void {
  const beyond = can.filter((ability) => scopesOf([ability]).some((scope) => !holds(key, scope)));
  if (beyond.length === 0) return;
  const needed = scopesBeyond(key, { scopes: scopesOf(can) });
  throw new Problem(
    'missing_scope',
    `Cannot create the link: ${beyond.map((one) => `"${one}"`).join(' and ')} needs the scope ` +
      `${needed.map((one) => `"${one}"`).join(' and ')}, which the calling key does not hold (it holds: ${key.scopes.join(', ')})`,
  );
}

/** `by`: where the request comes from. The ticket is used up, also if the key has ended since. */
export async function openPortal(
  { world, store }: Deps,
  ticket: string,
  by?: AuditActor,
): Promise<{ session: OpenSession; grant: PortalGrant; appId: string }> {
  const hash = hashToken(ticket);
  const taken = hash && (await store.edit('takeTicket', { hash, opens: 'portal' }));
  if (taken?.kind !== 'taken' || taken.portal === undefined)
    throw new Problem('unauthorized', used);
  const { keyId, keyHash, portal } = taken;
  const key = await store.read('key', { id: keyId });
  if (key === undefined || !admits(key, keyHash, world.nowMs())) {
    throw new Problem('unauthorized', used);
  }
  const made = makeToken(world);
  const session: Session = {
    hash: made.hash,
    keyId,
    keyHash,
    createdMs: store.nowMs(),
    expiresMs: portal.untilMs,
    portal,
  };
  const { customer } = portal;
  const user = by && { ...by, kind: 'portal' as const, keyId, customer };
  const audit = audited({ no: key.appNo, by: user }, 'session.started');
  await store.edit('createSession', { ...session, kind: 'session', audit });
  return { session: { ...session, token: made.token }, grant: portal, appId: key.appId };
}

const used =
  'Cannot open the portal: expected a link that is less than an hour old and has not been used. Open the portal again ' +
  'from the page that led here';
