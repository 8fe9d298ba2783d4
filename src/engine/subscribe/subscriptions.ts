// Operations on an existing subscription: end, pause, change, replace its secret. A subscription of
// another app is reported as not found, exactly like an unknown one.
import { customerOf, isVisible, type Actor } from '../../core/domain/app.ts';
import type { Header } from '../../core/domain/attempt.ts';
import type { Controls } from '../../core/domain/controls.ts';
import type { Health } from '../../core/domain/health.ts';
import { readId, withPrefix } from '../../core/base/id.ts';
import { limits } from '../../core/limits/limits.ts';
import { Problem, type Fault } from '../../core/errors/problem.ts';
import type { Choice } from '../../core/domain/read-controls.ts';
import { validSecrets, type SigningSecret } from '../../core/secrets/signing-secret.ts';
import type { Subscription, SubscriptionState } from '../../core/domain/subscription.ts';
import type { Customer, EditInput, Page, PageInput, ReadInput } from '../../store/port/store.ts';
import type { Audit } from '../../core/domain/audit.ts';
import { audited } from '../audit.ts';
import type { Context } from '../context.ts';
import { confirmSubscription } from '../publish/confirm.ts';
import { choose, expired, announceExpiry } from './controls.ts';
import { openHeaders, openSecrets, renewSecrets } from '../targets/secrets.ts';
import { changedFields } from './changed-fields.ts';
import { acceptUrl } from './targets.ts';

export async function unsubscribe(context: Context, app: Actor, id: string): Promise<Subscription> {
  const bare = await visibleId(context, app, id);
  const audit = audited(app, 'subscription.ended', { object: withPrefix('sub', bare) });
  const result = await context.store.edit('unsubscribe', { appNo: app.no, id: bare, audit });
  if (result.kind === 'not_found') throw notFound(id);
  context.changed(bare, 'ended');
  context.changes.subscription(app.no, bare);
  return result.subscription;
}

/** Confirms an unconfirmed subscription; one that is active or paused stays as it is. */
export async function confirm(context: Context, app: Actor, id: string): Promise<Subscription> {
  const bare = await visibleId(context, app, id);
  const audit = audited(app, 'subscription.confirmed', { object: withPrefix('sub', bare) });
  const result = await confirmSubscription(context, { appNo: app.no, id: bare, audit });
  if (result.kind === 'not_found') throw notFound(id);
  if (result.kind === 'ended') {
    throw new Problem('conflict', `Cannot confirm ${id}: it has ended. Subscribe again instead`);
  }
  return result.subscription;
}

export async function getSubscription(
  { store }: Context,
  app: Actor,
  id: string,
): Promise<Subscription> {
  const bare = readId('sub', id);
  const found =
    bare === undefined ? undefined : await store.read('subscription', { appNo: app.no, id: bare });
  if (found === undefined || !isVisible(app, found)) throw notFound(id);
  return found;
}

/** The bare id, which need not exist unless the actor sees only some subscriptions. */
async function visibleId(context: Context, app: Actor, id: string): Promise<string> {
  if (app.customer !== undefined) return (await getSubscription(context, app, id)).id;
  const bare = readId('sub', id);
  if (bare === undefined) throw notFound(id);
  return bare;
}

/** The health of the receivers of each subscription that has not ended. */
export async function healthOf(
  { store }: Context,
  app: Actor,
  subscriptions: readonly Pick<Subscription, 'id' | 'state'>[],
): Promise<ReadonlyMap<string, Health>> {
  const ids = subscriptions.flatMap(({ id, state }) => (state === 'ended' ? [] : [id]));
  if (ids.length === 0) return new Map();
  const all = await store.read('subscriptionHealth', { appNo: app.no, ids });
  return new Map(ids.flatMap((id, at) => all.slice(at, at + 1).map((health) => [id, health])));
}

export async function listSubscriptions(
  { store }: Context,
  app: Actor,
  query: Omit<ReadInput<'subscriptions'>, 'appNo'>,
): Promise<Page<Subscription>> {
  const customer = customerOf(app, query.customer, 'query.customer');
  return store.read('subscriptions', { appNo: app.no, ...query, customer });
}

/** A key that is bound to a customer sees this one only. */
export async function listCustomers(
  { store }: Context,
  { no: appNo, customer }: Actor,
  page: PageInput,
): Promise<Page<Customer>> {
  return store.read('customers', { appNo, customer, page });
}

export interface SubscriptionChange {
  state: 'active' | 'paused' | undefined;
  callbacks: readonly CallbackChange[];
  choice: Choice;
}

export interface CallbackChange {
  position: number;
  url: string | undefined;
  events: readonly string[] | undefined;
}

export async function changeSubscription(
  context: Context,
  app: Actor,
  { id, change }: { id: string; change: SubscriptionChange },
): Promise<Subscription> {
  return edit(context, app, id, async (subscription) => {
    const { state, callbacks, choice } = change;
    const urls = await acceptUrls(context, subscription, callbacks);
    const events = callbacks.flatMap(({ position, events: matched }) =>
      matched === undefined ? [] : [{ position, events: matched }],
    );
    const { id: subscriptionId } = subscription;
    const chosen = choose(context, { app, subscriptionId, choice, before: subscription });
    const secrets = chosen && secretsFor(context, { app, subscription, controls: chosen.controls });
    if (choice.customer !== undefined) customerOf(app, choice.customer, 'body#/customer');
    const { customer } = choice;
    const fields = changedFields(subscription, {
      callbacks: callbacks.map(({ position, events: matched }) => ({
        position,
        url: urls.find((one) => one.position === position)?.url,
        events: matched,
      })),
      controls: chosen?.controls,
      customer,
      headers: { before: ownHeaders(context, app, subscription), now: choice.headers },
    });
    const audit = editAudit(app, subscription, { state, fields });
    return { result: undefined, edits: { state, urls, events, secrets, customer, chosen, audit } };
  }).then(({ subscription }) => subscription);
}

/** Undefined if nothing changes. */
function editAudit(
  app: Actor,
  { id, state: before }: Subscription,
  { state = before, fields }: { state: SubscriptionState | undefined; fields: readonly string[] },
): Audit | undefined {
  const isMoved = state !== before;
  if (!isMoved && fields.length === 0) return undefined;
  const action = !isMoved
    ? 'subscription.edited'
    : state === 'paused'
      ? 'subscription.paused'
      : 'subscription.resumed';
  const details = fields.length === 0 ? {} : { fields };
  return audited(app, action, { object: withPrefix('sub', id), details });
}

/** Without those that the document declares. */
function ownHeaders(
  { ring }: Context,
  { id: appId }: Actor,
  { id: subscriptionId, headers }: Subscription,
): readonly Header[] {
  return openHeaders(ring, { appId, subscriptionId }, headers).own;
}

/** Another signing method means rotating to a secret of that kind. Undefined: no change. */
function secretsFor(
  context: Context,
  { app, subscription, controls }: { app: Actor; subscription: Subscription; controls: Controls },
): Uint8Array | undefined {
  if (controls.signing === subscription.controls.signing) return undefined;
  const owner = { appId: app.id, subscriptionId: subscription.id };
  const { signing = 'hmac' } = controls;
  const { secrets: sealed } = subscription;
  return renewSecrets(context, { owner, sealed, signing, overlapMs: limits.rotationOverlapMs })
    .sealed;
}

/** The secrets that sign now, newest first. */
export async function getSecrets(
  context: Context,
  app: Actor,
  id: string,
): Promise<SigningSecret[]> {
  const subscription = await getSubscription(context, app, id);
  const owner = { appId: app.id, subscriptionId: subscription.id };
  const secrets = openSecrets(context.ring, owner, subscription.secrets);
  const { id: bare, customer } = subscription;
  const audit = audited(app, 'secret.shown', { object: withPrefix('sub', bare), customer });
  if (audit !== undefined) await context.store.edit('recordAudit', { audit });
  return validSecrets(secrets, context.world.nowMs());
}

export async function rotateSecret(
  context: Context,
  app: Actor,
  { id, overlapMs }: { id: string; overlapMs: number },
): Promise<SigningSecret[]> {
  const { result } = await edit(context, app, id, async ({ id: subscriptionId, secrets }) => {
    const owner = { appId: app.id, subscriptionId };
    const renewal = { owner, sealed: secrets, signing: undefined, overlapMs };
    const renewed = renewSecrets(context, renewal);
    const audit = audited(app, 'secret.rotated', { object: withPrefix('sub', subscriptionId) });
    const edits = { state: undefined, urls: [], secrets: renewed.sealed, audit };
    return { result: renewed.secrets, edits };
  });
  return result;
}

type Edits = Omit<EditInput<'editSubscription'>, 'appNo' | 'id' | 'version'>;
const editTriesMax = 5;

/** Optimistic concurrency: reads, decides and writes, and tries again after a concurrent change. */
async function edit<T>(
  context: Context,
  app: Actor,
  id: string,
  decide: (subscription: Subscription) => Promise<{ result: T; edits: Edits }>,
): Promise<{ subscription: Subscription; result: T }> {
  for (let tries = 0; tries < editTriesMax; tries += 1) {
    const seen = await getSubscription(context, app, id);
    if (seen.state === 'ended') throw ended(id);
    const { result, edits } = await decide(seen);
    const key = { appNo: app.no, id: seen.id, version: seen.version };
    const written = await context.store.edit('editSubscription', { ...key, ...edits });
    if (written.kind === 'edited') {
      context.changed(seen.id, written.subscription.state);
      context.changes.subscription(app.no, seen.id);
      announceExpiry(context, written.subscription);
      return { subscription: written.subscription, result };
    }
    if (written.kind === 'expired') throw expired('patch');
    if (written.kind === 'ended') throw ended(id);
    if (written.kind === 'unconfirmed') throw unconfirmed(id);
    if (written.kind === 'not_found') throw notFound(id);
  }
  throw new Problem(
    'conflict',
    `Cannot change ${id}: it is being changed by other requests at the same time`,
  );
}

async function acceptUrls(
  { guard }: Context,
  { callbacks }: Subscription,
  changes: readonly CallbackChange[],
): Promise<{ position: number; url: string }[]> {
  const faults: Fault[] = [];
  const seen = new Set<number>();
  const accepted: { position: number; url: string }[] = [];
  for (const [index, { position, url }] of changes.entries()) {
    const at = `body#/callbacks/${index}`;
    if (position >= callbacks.length || seen.has(position)) {
      const message = seen.has(position)
        ? `Callback ${position} is changed twice: expected each position once`
        : `There is no callback ${position}: expected a position from 0 to ` +
          `${callbacks.length - 1}`;
      throw new Problem('invalid_request', message, {
        faults: [{ field: `${at}/position`, message }],
      });
    }
    seen.add(position);
    if (url === undefined) continue;
    const verdict = await acceptUrl(url, guard);
    if (verdict.kind === 'refused') faults.push({ field: `${at}/url`, message: verdict.message });
    else accepted.push({ position, url: verdict.url });
  }
  if (faults.length > 0) throw new Problem('target_refused', faults[0]?.message ?? '', { faults });
  return accepted;
}

function notFound(id: string): Problem {
  return new Problem('not_found', `There is no subscription ${JSON.stringify(id)}`);
}

function unconfirmed(id: string): Problem {
  return new Problem('conflict', `Cannot change ${id}: it is unconfirmed. Confirm it first`);
}

function ended(id: string): Problem {
  return new Problem('conflict', `Cannot change ${id}: it has ended. Subscribe again instead`);
}
