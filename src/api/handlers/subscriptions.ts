// Handlers of subscriptions, which subscribe calls created: list, show, change, end.
import assert from 'node:assert/strict';
import type { Controls } from '../../core/domain/controls.ts';
import { printDuration } from '../../core/base/parse-time.ts';
import type { Health } from '../../core/domain/health.ts';
import { withPrefix } from '../../core/base/id.ts';
import { invalidRequest, type Fault } from '../../core/errors/problem.ts';
import { readChoice, readPatterns } from '../../core/domain/read-controls.ts';
import { signingOf, verifierOf, type SigningSecret } from '../../core/secrets/signing-secret.ts';
import {
  subscriptionStates,
  type Callback,
  type Subscription,
  type SubscriptionState,
} from '../../core/domain/subscription.ts';
import type { Context } from '../../engine/context.ts';
import {
  changeSubscription,
  confirm,
  getHealth,
  getSecrets,
  getSubscription,
  listSubscriptions,
  rotateSecret,
  unsubscribe,
  type SubscriptionChange,
} from '../../engine/subscribe/subscriptions.ts';
import type { Call, Handlers, Reply } from '../request/call.ts';
import * as fields from '../request/fields.ts';

export function subscriptionHandlers(context: Context): Handlers {
  return {
    listSubscriptions: async ({ app, request }) => {
      const query = Object.fromEntries(request.query);
      const page = await listSubscriptions(context, app, {
        page: fields.pageInput(request),
        state: readState(fields.optionalText(query, 'state')),
        event: fields.optionalText(query, 'event'),
        url: fields.optionalText(query, 'url'),
        subject: fields.optionalText(query, 'subject'),
      });
      const items = page.items.map(showSubscription);
      return { status: 200, body: { items, nextCursor: page.next ?? null } };
    },
    getSubscription: async ({ app, request }) => {
      const found = await getSubscription(context, app, fields.pathText(request, 'id'));
      return showOne(context, app, found);
    },
    editSubscription: async ({ app, request }) => {
      const change = readChange(fields.bodyFields(request));
      const id = fields.pathText(request, 'id');
      const changed = await changeSubscription(context, app, { id, change });
      return showOne(context, app, changed);
    },
    confirmSubscription: async ({ app, request }) => {
      const confirmed = await confirm(context, app, fields.pathText(request, 'id'));
      return showOne(context, app, confirmed);
    },
    deleteSubscription: async ({ app, request }) => {
      await unsubscribe(context, app, fields.pathText(request, 'id'));
      return { status: 204 };
    },
    getSecret: async ({ app, request }) =>
      showSecrets(await getSecrets(context, app, fields.pathText(request, 'id'))),
    rotateSecret: async ({ app, request }) => {
      const id = fields.pathText(request, 'id');
      const overlapMs = fields.overlapMs(request);
      return showSecrets(await rotateSecret(context, app, { id, overlapMs }));
    },
  };
}

function readChange({ state: named, callbacks, ...rest }: fields.Fields): SubscriptionChange {
  const state = readState(fields.optionalText({ state: named }, 'state'));
  assert(state === undefined || state === 'active' || state === 'paused');
  const faults: Fault[] = [];
  const changes = fields.list({ callbacks }, 'callbacks').map((item, index) => {
    const callback = fields.object(item, 'callback');
    const { events } = callback;
    const field = `body#/callbacks/${index}/events`;
    const reading = events === undefined ? undefined : readPatterns(events, field);
    if (reading?.kind === 'faulty') faults.push(...reading.faults);
    if (reading === undefined && callback['url'] === undefined) {
      const message = 'changes nothing, expected url or events';
      faults.push({ field: `body#/callbacks/${index}`, message });
    }
    return {
      position: fields.integer(callback, 'position'),
      url: fields.optionalText(callback, 'url'),
      events: reading?.kind === 'patterns' ? reading.patterns : undefined,
    };
  });
  const choice = readChoice(rest, 'body#');
  if (choice.kind === 'faulty') faults.push(...choice.faults);
  if (choice.kind === 'faulty' || faults.length > 0) throw invalidRequest(faults);
  return { state, callbacks: changes, choice: choice.choice };
}

/** With the health of its receivers, which would be too expensive in lists. */
async function showOne(context: Context, app: Call['app'], found: Subscription): Promise<Reply> {
  const shown = showSubscription(found);
  if (found.state === 'ended') return { status: 200, body: shown };
  const health = showHealth(await getHealth(context, app, found.id));
  return { status: 200, body: { ...shown, health } };
}

function showSubscription(subscription: Subscription): Record<string, unknown> {
  const { id, state, subject, contract, operation, callbacks, controls } = subscription;
  const { confirmByMs, createdMs, endedMs, endReason } = subscription;
  return {
    id: withPrefix('sub', id),
    state,
    ...(subject === undefined ? {} : { subject }),
    contract,
    operation,
    callbacks: callbacks.map(showCallback),
    ...showControls(controls),
    ...(state === 'unconfirmed' && confirmByMs !== undefined
      ? { confirmBy: fields.time(confirmByMs) }
      : {}),
    createdAt: fields.time(createdMs),
    ...(endedMs === undefined ? {} : { endedAt: fields.time(endedMs) }),
    ...(endReason === undefined ? {} : { endReason }),
  };
}

function showHealth({ state, failures, failingMs, nextAttemptMs }: Health): object {
  return {
    state,
    failures,
    ...(failingMs === undefined ? {} : { failingSince: fields.time(failingMs) }),
    ...(nextAttemptMs === undefined ? {} : { nextAttemptAt: fields.time(nextAttemptMs) }),
  };
}

function showCallback(callback: Callback): Record<string, unknown> {
  const { position, label, events, method, url, inactive } = callback;
  const target = inactive === undefined ? { url } : { inactive };
  return { position, label, event: events[0], events, method, ...target };
}

/** Unset controls are undefined, which JSON leaves out. */
function showControls(controls: Controls): Record<string, unknown> {
  const { retryMs, timeoutMs, ratePerSecond, expiresMs, ...rest } = controls;
  return {
    ...rest,
    retry: retryMs?.map(printDuration),
    timeout: timeoutMs === undefined ? undefined : printDuration(timeoutMs),
    rateLimit: ratePerSecond,
    expiresAt: expiresMs === undefined ? undefined : fields.time(expiresMs),
  };
}

function showSecrets(secrets: readonly SigningSecret[]): Reply {
  const [current, previous] = secrets;
  assert(current, 'A subscription has a signing secret');
  if (previous?.expiresMs === undefined) return { status: 200, body: showSecret(current) };
  const old = { ...showSecret(previous), expiresAt: fields.time(previous.expiresMs) };
  return { status: 200, body: { ...showSecret(current), previous: old } };
}

/** What receivers verify with: of a key pair only the public key, never the private one. */
function showSecret(one: SigningSecret): Record<string, unknown> {
  const secret = verifierOf(one);
  return signingOf(one) === 'hmac' ? { secret } : { secret, publicKey: secret };
}

function readState(name: string | undefined): SubscriptionState | undefined {
  return subscriptionStates.find((state) => state === name);
}
