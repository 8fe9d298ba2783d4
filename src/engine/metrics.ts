// All metrics of a scrape: what this node counted, what it holds, what its process needs, and what the
// store knows. `ringback_cluster_…` is the same on every node of a database: take the max, never the sum.
import { pendingOf } from '../core/figures.ts';
import { timeOf } from '../core/id.ts';
import { limits } from '../core/limits.ts';
import { counter, counterBy, gauge, gaugeBy } from '../core/metric.ts';
import type { Family, Labels, Title } from '../core/metric.ts';
import { version } from '../core/version.ts';
import type { World } from '../core/world.ts';
import type { NodeRole } from '../store/node-verbs.ts';
import type { Store } from '../store/store.ts';
import type { AdmissionFigures } from './admission.ts';
import type { Census } from './census.ts';
import type { Disk } from './disk.ts';
import type { Meter } from './meter.ts';
import { ProcessMeter } from './process-meter.ts';
import { createStoreWatch, type StoreView, type WatchMeans } from './store-view.ts';

export interface MetricsMeans extends WatchMeans {
  world: World;
  store: WatchMeans['store'] & Pick<Store, 'waiting'>;
  meter: Pick<Meter, 'families'>;
  self: { readonly name: string; readonly role: NodeRole; isFresh(): boolean };
  /** Deliveries under way on this node. */
  underWay: () => number;
  streams: () => number;
  admission: () => AdmissionFigures;
}

export interface Metrics extends AsyncDisposable {
  /** Always answers, whatever the store does. */
  read: () => Promise<Family[]>;
}

export function startMetrics(means: MetricsMeans): Metrics {
  const watch = createStoreWatch(means);
  const ofProcess = new ProcessMeter(means.world);
  return {
    read: async () => [...familiesOf(means, await watch.look()), ...ofProcess.families()],
    [Symbol.asyncDispose]: async () => ofProcess[Symbol.asyncDispose](),
  };
}

function familiesOf(means: MetricsMeans, view: StoreView | undefined): Family[] {
  return [
    ...nodeFamilies(means),
    ...admissionFamilies(means.admission()),
    ...means.meter.families(),
    gauge({ name: 'ringback_store_up', help: upHelp }, view === undefined ? 0 : 1),
    ...(view === undefined ? [] : clusterFamilies(view)),
    ...(view?.census === undefined ? [] : censusFamilies(view.census, view.nowMs)),
    ...(view?.disk === undefined ? [] : diskFamilies(view.disk)),
  ];
}

const upHelp =
  'Whether the store answered this scrape in time; when it is 0, ringback_cluster_… is missing.';

function nodeFamilies({ self, store, underWay, streams }: MetricsMeans): Family[] {
  const runtime = process.versions.node;
  return [
    info({ name: 'ringback_build_info', help: 'The program.' }, { version, runtime }),
    info({ name: 'ringback_node_info', help: 'This node.' }, { node: self.name, role: self.role }),
    gauge(
      { name: 'ringback_node_fresh', help: 'Whether its heartbeat has reached the store lately.' },
      self.isFresh() ? 1 : 0,
    ),
    gauge(
      { name: 'ringback_window_deliveries', help: 'Deliveries under way on this node.' },
      underWay(),
    ),
    gauge(
      { name: 'ringback_window_max', help: 'Deliveries that may be under way on a node.' },
      limits.windowMax,
    ),
    gauge(
      { name: 'ringback_streams', help: 'Streams of the live view that are open at this node.' },
      streams(),
    ),
    gaugeBy(
      'kind',
      { name: 'ringback_store_waiting', help: 'What waits for its batch to the store.' },
      { ...store.waiting() },
    ),
  ];
}

function admissionFamilies(figures: AdmissionFigures): Family[] {
  const { publishLimit, underWay, bytes, unreadBytes } = figures;
  return [
    gaugeBy(
      'kind',
      { name: 'ringback_admission_under_way', help: 'Requests that are under way at this node.' },
      { ...underWay },
    ),
    gauge(
      { name: 'ringback_admission_publish_limit', help: 'Publishes that may be under way now.' },
      publishLimit,
    ),
    gauge(
      { name: 'ringback_admission_body_bytes', help: 'Large bodies under way or on their way.' },
      bytes,
    ),
    gauge(
      { name: 'ringback_admission_unread_bytes', help: 'Large answers that wait to be read.' },
      unreadBytes,
    ),
  ];
}

function clusterFamilies({ gauges, nodes, nowMs }: StoreView): Family[] {
  const { counts, running, oldestPending, fanOuts, replays, notices } = gauges;
  const waiting = Math.max(pendingOf(counts) - running, 0);
  const roles = Map.groupBy(nodes, ({ role }) => role);
  const byRole = { api: 0, worker: 0, all: 0 };
  for (const [role, some] of roles) byRole[role] = some.length;
  const { delivered, dead, cancelled } = counts;
  const ageMs = oldestPending === undefined ? 0 : Math.max(nowMs - timeOf(oldestPending), 0);
  return [
    gaugeBy(
      'state',
      {
        name: 'ringback_cluster_deliveries',
        help: 'Deliveries that have not ended: waiting, for whatever reason, or running.',
      },
      { waiting, running },
    ),
    counterBy(
      'state',
      {
        name: 'ringback_cluster_deliveries_ended_total',
        help: 'Deliveries that ended, by how; since the database was made.',
      },
      { delivered, dead, cancelled },
    ),
    counter(
      { name: 'ringback_cluster_events_total', help: 'Events since the database was made.' },
      counts.published,
    ),
    gauge(
      {
        name: 'ringback_cluster_oldest_pending_seconds',
        help: 'Age of the oldest event with a delivery that has not ended, whatever it waits for; 0: none.',
      },
      ageMs / 1000,
    ),
    gauge({ name: 'ringback_cluster_fanouts', help: 'Large fan-outs under way.' }, fanOuts),
    gauge({ name: 'ringback_cluster_replays', help: 'Replays that run.' }, replays),
    gauge(
      {
        name: 'ringback_cluster_notices',
        help: "Ringback's own events that are yet to be published.",
      },
      notices,
    ),
    gaugeBy('role', { name: 'ringback_cluster_nodes', help: 'Nodes that are there.' }, byRole),
  ];
}

function censusFamilies({ lanes, subscriptions }: Census, nowMs: number): Family[] {
  const { open, held, ordered, limited, broken, probing } = lanes;
  const { due, oldestDueMs, oldestReadyMs } = lanes;
  const closed = open + held - broken - probing;
  const ageOf = (ms: number | undefined): number =>
    ms === undefined ? 0 : Math.max(nowMs - ms, 0) / 1000;
  return [
    gauge(
      {
        name: 'ringback_cluster_deliveries_due',
        help: `Deliveries whose time has come, throttled and paused ones included; counted up to ${limits.dueCountedMax}.`,
      },
      due,
    ),
    gauge(
      {
        name: 'ringback_cluster_oldest_due_seconds',
        help: 'How long the delivery waits that became due first, throttled and paused ones included; 0: none.',
      },
      ageOf(oldestDueMs),
    ),
    gauge(
      {
        name: 'ringback_cluster_oldest_ready_seconds',
        help: 'The same of deliveries that could go now: a number that grows means that nodes lag behind.',
      },
      ageOf(oldestReadyMs),
    ),
    gaugeBy(
      'kind',
      {
        name: 'ringback_cluster_lanes',
        help: 'Lanes: open or held, and of both together ordered, limited (by rate) and broken.',
      },
      { open, held, ordered, limited, broken: broken + probing },
    ),
    gaugeBy(
      'state',
      {
        name: 'ringback_cluster_breakers',
        help: 'Lanes by their breaker: closed, open, or half open (the next delivery may probe).',
      },
      { closed, open: broken, half_open: probing },
    ),
    gaugeBy(
      'state',
      { name: 'ringback_cluster_subscriptions', help: 'Subscriptions that have not ended.' },
      { ...subscriptions },
    ),
  ];
}

function diskFamilies({ freeBytes, totalBytes, usedBytes }: Disk): Family[] {
  return [
    gauge(
      { name: 'ringback_data_free_bytes', help: 'Room left where the data folder is.' },
      freeBytes,
    ),
    gauge(
      { name: 'ringback_data_size_bytes', help: 'All room where the data folder is.' },
      totalBytes,
    ),
    gauge(
      { name: 'ringback_data_used_bytes', help: 'What the database takes, its log included.' },
      usedBytes,
    ),
  ];
}

/** Always 1: what it says is in its labels. */
function info(title: Title, labels: Labels): Family {
  return { ...title, type: 'gauge', samples: [{ labels, value: 1 }] };
}
