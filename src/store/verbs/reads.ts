// All reads, by name: they are the same on both databases.
import type { ReadCall } from '../port/transport-protocol.ts';
import type { Script } from '../sql/statement.ts';
import type { ReadOutput, ReadVerb } from '../port/store.ts';
import { app, apps } from './accounts/apps.ts';
import { attempts } from './deliveries/attempts.ts';
import { deliveries } from './deliveries/deliveries.ts';
import { delivery } from './shared/delivery.ts';
import { event, events } from './deliveries/events.ts';
import { expiring } from './subscriptions/expire-subscription.ts';
import { appFigures, counts, subscriptionFigures } from './statistics/statistics.ts';
import { deliveriesNamed, feed, watched } from './feed.ts';
import { gauges, laneCensus, subscriptionCensus } from './statistics/gauges.ts';
import { health } from './statistics/health.ts';
import { key, keys } from './accounts/keys.ts';
import { nodes } from './nodes.ts';
import { notices } from './shared/notices.ts';
import { replayable, replayRange } from './replays/replayable.ts';
import { replay, replays, runningReplays } from './replays/replays.ts';
import { adminKey, session } from './accounts/sessions.ts';
import { subscriptionHealth } from './subscriptions/subscription-health.ts';
import { subscription, subscriptions } from './subscriptions/subscriptions.ts';
import { tally } from './deliveries/tally.ts';
import { targets } from './deliveries/targets.ts';
import type { Read } from './shared/verb.ts';

const reads: { [V in ReadVerb]: Read<V> } = {
  key,
  keys,
  app,
  apps,
  subscription,
  subscriptions,
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
  appFigures,
  subscriptionFigures,
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
};

export function readScript<V extends ReadVerb>(call: ReadCall<V>): Script<ReadOutput<V>> {
  return reads[call.verb](call.input);
}
