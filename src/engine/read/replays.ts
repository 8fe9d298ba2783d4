// Starting, reading, listing and cancelling replays. The replayer does their work step by step.
import { customerOf, isVisible, type Actor } from '../../core/domain/app.ts';
import { withoutPrefix, withPrefix } from '../../core/base/id.ts';
import { limits } from '../../core/limits/limits.ts';
import { Problem } from '../../core/errors/problem.ts';
import type { Replay, ReplayCursor, ReplayFilter } from '../../core/domain/replay.ts';
import type { ReplayScope } from '../../store/port/replay-verbs.ts';
import type { Page, PageInput } from '../../store/port/store.ts';
import { audited } from '../audit.ts';
import type { Context } from '../context.ts';
import { idempotencyMismatch, idempotencyOf, type KeyedRequest } from '../publish/idempotency.ts';

/** A filter as requested, with the external id of the subscription. */
export interface ReplayInput {
  filter: Omit<ReplayFilter, 'subscription'> & { subscriberId: string | undefined };
  ratePerSecond: number;
  idempotency: KeyedRequest | undefined;
}

export async function createReplay(
  context: Context,
  app: Actor,
  { filter: requested, ratePerSecond, idempotency }: ReplayInput,
): Promise<Replay> {
  const filter = await resolveFilter(context, app, requested);
  const replay = { id: context.newId(), appNo: app.no, filter, ratePerSecond };
  const runningMax = limits.replaysRunningMax;
  const result = await context.store.edit('createReplay', {
    replay,
    runningMax,
    audit: audited(app, 'replay.created', { object: withPrefix('rpl', replay.id) }),
    idempotency: idempotency && idempotencyOf(idempotency, app),
  });
  switch (result.kind) {
    case 'created':
      context.changes.replay(app.no, result.replay.id);
      context.replayWaits();
      return result.replay;
    case 'repeated':
      return result.replay;
    case 'mismatch':
      throw idempotencyMismatch();
    case 'too_many':
      throw new Problem(
        'conflict',
        `Cannot start a replay: ${runningMax} are already running, expected fewer. Cancel ` +
          'one, or wait until one finishes',
      );
  }
}

export interface Counted {
  matched: number;
  /** There may be more. */
  isCapped: boolean;
}

/** Counts the deliveries that a replay would send again, in bounded reads and bounded time. */
export async function countReplayable(
  context: Context,
  app: Actor,
  requested: ReplayInput['filter'],
): Promise<Counted> {
  const { store, world } = context;
  const scope = { appNo: app.no, filter: await resolveFilter(context, app, requested) };
  const range = await store.read('replayRange', scope);
  if (range === undefined) return { matched: 0, isCapped: false };
  const untilMs = world.monotonicMs() + limits.dryRunMs;
  const endedByMs = store.nowMs();
  let after: ReplayCursor = { event: range.firstEvent, n: -1, below: Infinity };
  let matched = 0;
  for (;;) {
    const limit = Math.min(limits.replayRowsExaminedMax, limits.dryRunMatchedMax - matched);
    const walk = { ...scope, endedByMs, after, lastEvent: range.lastEvent, limit };
    const found = await store.read('replayable', walk);
    matched += found.names.length;
    if (found.isLast) return { matched, isCapped: false };
    const isEnough = matched === limits.dryRunMatchedMax || world.monotonicMs() >= untilMs;
    if (isEnough) return { matched, isCapped: true };
    after = { ...found.reached, below: Infinity };
  }
}

export async function listReplays(
  { store }: Context,
  app: Actor,
  page: PageInput,
): Promise<Page<Replay>> {
  return store.read('replays', { appNo: app.no, customer: app.customer, page });
}

export async function getReplay({ store }: Context, app: Actor, id: string): Promise<Replay> {
  const bare = withoutPrefix('rpl', id);
  const found =
    bare === undefined ? undefined : await store.read('replay', { appNo: app.no, id: bare });
  if (found === undefined || !isVisible(app, found.filter)) throw notFound(id);
  return found;
}

export async function cancelReplay(context: Context, app: Actor, id: string): Promise<Replay> {
  const { store, changes } = context;
  const { id: bare } = await getReplay(context, app, id);
  const audit = audited(app, 'replay.cancelled', { object: id });
  const result = await store.edit('cancelReplay', { appNo: app.no, id: bare, audit });
  switch (result.kind) {
    case 'cancelled':
      changes.replay(app.no, bare);
      return result.replay;
    case 'done':
      throw new Problem('conflict', `Cannot cancel ${id}: it has finished`);
    case 'not_found':
      throw notFound(id);
  }
}

/**
 * The filter with the internal id of the subscription. An unknown subscription is an error, not an
 * empty result.
 */
async function resolveFilter(
  { store }: Context,
  app: Actor,
  { subscriberId, ...asked }: ReplayInput['filter'],
): Promise<ReplayScope['filter']> {
  const filter = { ...asked, customer: customerOf(app, asked.customer, 'body#/filter/customer') };
  const { fromMs, untilMs } = filter;
  if (fromMs !== undefined && untilMs !== undefined && fromMs >= untilMs) {
    const message = 'is not before until, expected an earlier time';
    throw new Problem('invalid_request', `body#/filter/from ${message}`, {
      faults: [{ field: 'body#/filter/from', message }],
    });
  }
  if (subscriberId === undefined) return { ...filter, subscription: undefined };
  const id = withoutPrefix('sub', subscriberId);
  const found =
    id === undefined ? undefined : await store.read('subscription', { appNo: app.no, id });
  if (found === undefined || !isVisible(app, found)) {
    const message = `There is no subscription ${JSON.stringify(subscriberId)}`;
    throw new Problem('not_found', message, {
      faults: [{ field: 'body#/filter/subscriberId', message: 'names no subscription' }],
    });
  }
  return { ...filter, subscription: found.id };
}

function notFound(id: string): Problem {
  return new Problem('not_found', `There is no replay ${JSON.stringify(id)}`);
}
