// Random commands for the comparison of both databases. Their operands are looked up in the rows, so that every shrunk
// sequence can be run, too.
import { fc } from '../fast-check.ts';
import { chosen, name, outcome, pattern, room, which, who } from './command-parts.ts';

const record = fc.record;
const one = fc.constant;
const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined, freq: 2 });

/** Few keys and two requests, so that they collide. */
const idempotency = record({ key: fc.nat(2), print: fc.nat(1) });
export type KeyUse = typeof idempotency extends fc.Arbitrary<infer T> ? T : never;

const endedState = fc.constantFrom('dead' as const, 'delivered', 'cancelled', 'ended', 'ended');

const ownPattern = fc.constantFrom(
  'ringback.*',
  'ringback.delivery.dead',
  'ringback.subscription.*',
);
const anyPattern = fc.oneof(
  { weight: 6, arbitrary: pattern },
  { weight: 1, arbitrary: ownPattern },
);
const position = fc.nat(2);
const state = fc.constantFrom('active' as const, 'active', 'paused', 'disabled');

const edits = {
  subscribe: record({
    kind: one('subscribe' as const),
    pattern: anyPattern,
    second: fc.constantFrom('a', 'inactive'),
    ...chosen,
    isBreaking: fc.constantFrom(false, false, true),
    idempotency: maybe(idempotency),
    most: fc.constantFrom(undefined, undefined, undefined, 2, 5),
  }),
  app: record({
    kind: one('app' as const),
    quota: fc.constantFrom('subscriptions', 'eventsPerSecond', 'payloadBytes'),
    value: fc.constantFrom(null, 1, 4, 1_000),
    name: maybe(fc.constantFrom('a', 'b')),
  }),
  publish: record({
    kind: one('publish' as const),
    app: fc.constantFrom(0 as const, 0, 0, 1),
    name,
    events: fc.integer({ min: 1, max: 3 }),
    idempotency: maybe(idempotency),
  }),
  address: record({
    kind: one('address' as const),
    who,
    how: fc.constantFrom('subscription', 'all_callbacks'),
    idempotency: maybe(idempotency),
  }),
  edit: record({
    kind: one('edit' as const),
    who,
    state: maybe(state),
    positions: fc.uniqueArray(position, { maxLength: 2 }),
    isNewSecret: fc.boolean(),
    chosen: maybe(record({ ...chosen, expiresInMs: maybe(fc.constantFrom(0, 1, 20_000)) })),
    isStale: fc.constantFrom(false, false, false, true),
    patterns: maybe(fc.array(anyPattern, { minLength: 1, maxLength: 3 })),
  }),
  expire: record({ kind: one('expire' as const), who }),
  forgetPatterns: record({
    kind: one('forgetPatterns' as const),
    agoMs: fc.constantFrom(0, 10_000),
  }),
  disable: record({ kind: one('disable' as const), which }),
  /** `missing`: another node was faster. */
  notice: record({ kind: one('notice' as const), how: fc.constantFrom('there', 'missing') }),
  unsubscribe: record({ kind: one('unsubscribe' as const), who }),
  retry: record({ kind: one('retry' as const), which }),
  sweep: record({ kind: one('sweep' as const), limit: fc.integer({ min: 1, max: 4 }) }),
  node: record({ kind: fc.constantFrom('heartbeat', 'heartbeat', 'stopNode'), which }),
  rescue: record({ kind: one('rescue' as const), silentMs: fc.constantFrom(1_000, 30_000) }),
  forget: record({ kind: one('forget' as const), agoMs: fc.constantFrom(0, 10_000) }),
  feed: record({
    kind: fc.constantFrom('appendFeed', 'appendFeed', 'watch', 'forgetFeed'),
    which,
    agoMs: fc.constantFrom(0, 10_000),
  }),
  key: record({
    kind: one('key' as const),
    how: fc.constantFrom('create', 'rotate', 'revoke', 'touch'),
    which,
  }),
  session: record({
    kind: one('session' as const),
    how: fc.constantFrom('create', 'create', 'ticket', 'take', 'prolong', 'end', 'forget'),
    which,
  }),
  setting: record({ kind: one('setting' as const), which: fc.nat(2) }),
  replay: record({
    kind: one('replay' as const),
    app: fc.constantFrom(0 as const, 0, 0, 1),
    state: endedState,
    name: maybe(fc.oneof(name, pattern)),
    who: maybe(who),
    status: maybe(fc.constantFrom('5xx', '500', '2xx')),
    error: maybe(fc.constantFrom('exhausted', 'status', 'expired')),
    rate: fc.constantFrom(1, 7, 1_000),
    runningMax: fc.constantFrom(1, 5),
    idempotency: maybe(idempotency),
  }),
  cancelReplay: record({ kind: one('cancelReplay' as const), which }),
  forgetReplays: record({ kind: one('forgetReplays' as const), agoMs: fc.constantFrom(0, 10_000) }),
  // Without a limit, because the databases may process lanes in different orders.
  keepStatistics: record({ kind: one('keepStatistics' as const) }),
  // Without a limit, because the databases may process equally old rows in different orders.
  tidyStatistics: record({
    kind: one('tidyStatistics' as const),
    fineMs: fc.constantFrom(60_000, 24 * 60 * 60 * 1000),
    keepMs: fc.constantFrom(60_000, 24 * 60 * 60 * 1000),
  }),
  poison: record({
    kind: one('poison' as const),
    how: fc.constantFrom('publish', 'subscribe', 'edit', 'key'),
    which,
  }),
};

const edit = fc.oneof(
  { weight: 3, arbitrary: edits.subscribe },
  { weight: 8, arbitrary: edits.publish },
  { weight: 2, arbitrary: edits.address },
  { weight: 3, arbitrary: edits.edit },
  { weight: 2, arbitrary: edits.disable },
  { weight: 1, arbitrary: edits.notice },
  { weight: 1, arbitrary: edits.unsubscribe },
  { weight: 1, arbitrary: edits.expire },
  { weight: 1, arbitrary: edits.forgetPatterns },
  { weight: 3, arbitrary: edits.retry },
  { weight: 2, arbitrary: edits.sweep },
  { weight: 1, arbitrary: edits.node },
  { weight: 1, arbitrary: edits.rescue },
  { weight: 1, arbitrary: edits.forget },
  { weight: 2, arbitrary: edits.feed },
  { weight: 1, arbitrary: edits.app },
  { weight: 1, arbitrary: edits.key },
  { weight: 1, arbitrary: edits.session },
  { weight: 1, arbitrary: edits.setting },
  { weight: 2, arbitrary: edits.replay },
  { weight: 1, arbitrary: edits.cancelReplay },
  { weight: 1, arbitrary: edits.forgetReplays },
  { weight: 2, arbitrary: edits.keepStatistics },
  { weight: 2, arbitrary: edits.tidyStatistics },
  { weight: 1, arbitrary: edits.poison },
);
export type EditCommand = typeof edit extends fc.Arbitrary<infer T> ? T : never;

const settlement = record({
  // Few that end a subscription, or soon none would be left.
  outcome: fc.oneof(
    { weight: 3, arbitrary: one('delivered' as const) },
    { weight: 5, arbitrary: one('retry' as const) },
    { weight: 4, arbitrary: outcome },
  ),
  waitMs: fc.nat(5_000),
  startedAgoMs: fc.constantFrom(0, 0, 40_000),
  /** Mostly the next one in the order of lanes, so that several of one lane are settled at once. */
  step: fc.constantFrom(1, 1, 1, 0, 3),
  lease: fc.constantFrom('own', 'own', 'own', 'own', 'own', 'stale'),
  attempt: fc.constantFrom(
    ...Array.from({ length: 15 }, () => 'good' as const),
    'poisoned' as const,
  ),
});
export type SettlementCommand = typeof settlement extends fc.Arbitrary<infer T> ? T : never;

const offer = record({ room: fc.nat(8), laneRoom: fc.nat(3) });

const read = record({
  kind: one('read' as const),
  what: fc.constantFrom(
    'subscriptions',
    'events',
    'deliveries',
    'deliveries',
    'deliveries',
    'delivery',
    'targets',
    'figures',
    'feed',
    'others',
  ),
  which,
  limit: fc.integer({ min: 1, max: 4 }),
  state: maybe(fc.constantFrom('due', 'running', 'delivered', 'dead', 'cancelled')),
  name: maybe(name),
  isOfEvent: fc.boolean(),
  isOfSubscription: fc.boolean(),
  subscriptionState: maybe(fc.constantFrom('active' as const, 'paused', 'ended')),
});
export type ReadCommand = typeof read extends fc.Arbitrary<infer T> ? T : never;

export const command = fc.oneof(
  {
    weight: 9,
    arbitrary: record({
      kind: one('edits' as const),
      edits: fc.oneof(
        fc.array(edit, { minLength: 1, maxLength: 1 }),
        fc.array(edit, { minLength: 2, maxLength: 6, size: 'max' }),
        fc.array(edits.publish, { minLength: 2, maxLength: 4, size: 'max' }),
      ),
      from: which,
      settle: fc.option(fc.array(settlement, { maxLength: 4, size: 'max' }), { nil: [], freq: 2 }),
      room,
      node: fc.nat(3),
    }),
  },
  {
    weight: 9,
    arbitrary: record({
      kind: one('work' as const),
      from: which,
      settle: fc.array(settlement, { maxLength: 6, size: 'max' }),
      claim: fc.option(offer, { nil: undefined, freq: 4 }),
      isFanningOut: fc.boolean(),
      node: fc.nat(3),
    }),
  },
  { weight: 1, arbitrary: record({ kind: one('beginFanOut' as const), name }) },
  // Never in a batch: leases contain node numbers, so a batch must not leave gaps in them; and the limit of a retain is
  // computed in advance.
  { weight: 1, arbitrary: one({ kind: 'startNode' as const }) },
  {
    weight: 1,
    arbitrary: record({
      kind: one('retain' as const),
      which,
      limit: fc.integer({ min: 1, max: 3 }),
    }),
  },
  // Never in a batch, because it is fenced by an earlier read. Without a replay, it starts one that matches a lot.
  {
    weight: 4,
    arbitrary: record({
      kind: one('advance' as const),
      state: endedState,
      which,
      limit: fc.integer({ min: 1, max: 6 }),
      isStale: fc.constantFrom(false, false, false, false, true),
    }),
  },
  { weight: 3, arbitrary: record({ kind: one('wait' as const), ms: fc.nat(40_000) }) },
  { weight: 1, arbitrary: one({ kind: 'wait' as const, ms: 24 * 60 * 60 * 1000 + 1 }) },
  { weight: 1, arbitrary: read },
);
export type Command = typeof command extends fc.Arbitrary<infer T> ? T : never;
