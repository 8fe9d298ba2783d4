// All reads, by name: they are the same on both databases.
import type { Node } from '../port/node-verbs.ts';
import type { ReadOutput, ReadVerb } from '../port/store.ts';
import type { ReadCall } from '../port/transport-protocol.ts';
import { integer, oneOf, text, type Row } from '../sql/row.ts';
import { all, type Script } from '../sql/statement.ts';
import { app, apps } from './accounts/apps.ts';
import { eventType, eventTypes, eventTypeVersions } from './accounts/event-types.ts';
import { key, keys } from './accounts/keys.ts';
import { adminKey, session } from './accounts/sessions.ts';
import { audit } from './audit.ts';
import { attempts } from './deliveries/attempts.ts';
import { deliveries, tally } from './deliveries/deliveries.ts';
import { event, events } from './deliveries/events.ts';
import { targets } from './deliveries/targets.ts';
import { deliveriesNamed, feed, watched } from './feed.ts';
import { replayable, replayRange, replay, replays, runningReplays } from './replays/replays.ts';
import { delivery } from './shared/delivery.ts';
import { notices } from './shared/notices.ts';
import type { Read } from './shared/verb.ts';
import { customerStatistics } from './statistics/customer-statistics.ts';
import { gauges, laneCensus, subscriptionCensus, health } from './statistics/gauges.ts';
import { appStatistics, counts, subscriptionStatistics } from './statistics/statistics.ts';
import { expiring } from './subscriptions/end-subscription.ts';
import { subscriptionHealth } from './subscriptions/failing-receivers.ts';
import {
  customers,
  subscription,
  subscriptionOf,
  subscriptions,
} from './subscriptions/subscriptions.ts';

// Reads the nodes that are alive.

export const nodesSql = {
  list: `
    select no, name, role, version, started_ms, seen_ms from node where gone = 0 order by no`,
} as const;

const nodes: Read<'nodes'> = function* () {
  return (yield* all(nodesSql.list)).map(toNode);
};

const nodeRoles = ['api', 'worker', 'all'] as const;

function toNode(row: Row): Node {
  return {
    no: integer(row, 'no'),
    name: text(row, 'name'),
    role: oneOf(nodeRoles, text(row, 'role')),
    version: text(row, 'version'),
    startedMs: integer(row, 'started_ms'),
    seenMs: integer(row, 'seen_ms'),
  };
}

const reads: { [V in ReadVerb]: Read<V> } = {
  key,
  keys,
  app,
  apps,
  eventType,
  eventTypes,
  eventTypeVersions,
  subscription,
  subscriptionOf,
  subscriptions,
  customers,
  expiring,
  health,
  targets,
  event,
  events,
  delivery,
  attempts,
  deliveries,
  tally,
  nodes,
  notices,
  subscriptionHealth,
  session,
  adminKey,
  counts,
  appStatistics,
  subscriptionStatistics,
  customerStatistics,
  feed,
  watched,
  deliveriesNamed,
  replay,
  replays,
  runningReplays,
  replayable,
  replayRange,
  gauges,
  laneCensus,
  subscriptionCensus,
  audit,
};

export function readScript<V extends ReadVerb>(call: ReadCall<V>): Script<ReadOutput<V>> {
  return reads[call.verb](call.input);
}
