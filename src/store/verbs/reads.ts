// All reads, by name: they are the same on both databases.
import type { ReadCall } from '../call.ts';
import type { Script } from '../statement.ts';
import type { ReadOutput, ReadVerb } from '../store.ts';
import { app, apps } from './apps.ts';
import { attempts } from './attempts.ts';
import { deliveries } from './deliveries.ts';
import { delivery } from './delivery.ts';
import { event, events } from './events.ts';
import { expiring } from './expire-subscription.ts';
import { appFigures, counts, subscriptionFigures } from './figures.ts';
import { deliveriesNamed, feed, watched } from './feed.ts';
import { gauges, laneCensus, subscriptionCensus } from './gauges.ts';
import { health } from './health.ts';
import { key, keys } from './keys.ts';
import { nodes } from './nodes.ts';
import { notices } from './notices.ts';
import { replayable, replayRange } from './replayable.ts';
import { replay, replays, runningReplays } from './replays.ts';
import { adminKey, session } from './sessions.ts';
import { subscriptionHealth } from './subscription-health.ts';
import { subscription, subscriptions } from './subscriptions.ts';
import { tally } from './tally.ts';
import { targets } from './targets.ts';
import type { Read } from './verb.ts';

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
