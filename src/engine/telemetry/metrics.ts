// All metrics of a scrape: counters and state of this node, resources of its process, and what the
// store knows. `ringback_cluster_…` is the same on every node of a database: aggregate it with max,
// never with sum.
import { timeOf } from '../../core/base/id.ts';
import { version } from '../../core/base/package.ts';
import type { World } from '../../core/base/world.ts';
import { limits } from '../../core/limits/limits.ts';
import {
  counter,
  counterBy,
  gauge,
  gaugeBy,
  type Family,
  type Labels,
  type Title,
} from '../../core/telemetry/metric.ts';
import { pendingOf } from '../../core/telemetry/statistics.ts';
import type { NodeRole } from '../../store/port/node-verbs.ts';
import type { Store } from '../../store/port/store.ts';
import type { AdmissionStatistics } from '../admission/admission.ts';
import type { LaneScan } from '../upkeep/lane-scan.ts';
import type { Meter } from './meter.ts';
import { ProcessMeter } from './process-meter.ts';
import {
  createStoreViewReader,
  type DiskUsage,
  type StoreView,
  type StoreViewDeps,
} from './store-view.ts';

export interface MetricsDeps extends StoreViewDeps {
  world: World;
  store: StoreViewDeps['store'] & Pick<Store, 'waiting'>;
  meter: Pick<Meter, 'families'>;
  self: { readonly name: string; readonly role: NodeRole; isFresh(): boolean };
  /** Deliveries that this node holds. */
  inFlight: () => number;
  streams: () => number;
  admission: () => AdmissionStatistics;
}

export interface Metrics extends AsyncDisposable {
  /** Always answers, whatever the store does. */
  read: () => Promise<Family[]>;
}

export function startMetrics(deps: MetricsDeps): Metrics {
  const watch = createStoreViewReader(deps);
  const ofProcess = new ProcessMeter(deps.world);
  return {
    read: async () => [...familiesOf(deps, await watch.read()), ...ofProcess.families()],
    [Symbol.asyncDispose]: async () => ofProcess[Symbol.asyncDispose](),
  };
}

function familiesOf(deps: MetricsDeps, view: StoreView | undefined): Family[] {
  return [
    ...nodeFamilies(deps),
    ...admissionFamilies(deps.admission()),
    ...deps.meter.families(),
    gauge(titles.storeUp, view === undefined ? 0 : 1),
    ...(view === undefined ? [] : clusterFamilies(view)),
    ...(view?.laneScan === undefined ? [] : laneScanFamilies(view.laneScan, view.nowMs)),
    ...(view?.disk === undefined ? [] : diskFamilies(view.disk)),
  ];
}

function nodeFamilies({ self, store, inFlight, streams }: MetricsDeps): Family[] {
  const runtime = process.versions.node;
  return [
    info(titles.buildInfo, { version, runtime }),
    info(titles.nodeInfo, { node: self.name, role: self.role }),
    gauge(titles.nodeFresh, self.isFresh() ? 1 : 0),
    gauge(titles.windowDeliveries, inFlight()),
    gauge(titles.windowMax, limits.windowMax),
    gauge(titles.streams, streams()),
    gaugeBy('kind', titles.storeWaiting, { ...store.waiting() }),
  ];
}

function admissionFamilies(figures: AdmissionStatistics): Family[] {
  const { publishLimit, changeLimit, inFlight, changesWaiting, bytes, unreadBytes } = figures;
  return [
    gaugeBy('kind', titles.admissionInFlight, { ...inFlight }),
    gauge(titles.admissionPublishLimit, publishLimit),
    gauge(titles.admissionChangeLimit, changeLimit),
    gauge(titles.admissionChangesWaiting, changesWaiting),
    gauge(titles.admissionBodyBytes, bytes),
    gauge(titles.admissionUnreadBytes, unreadBytes),
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
    gaugeBy('state', titles.clusterDeliveries, { waiting, running }),
    counterBy('state', titles.clusterDeliveriesEndedTotal, { delivered, dead, cancelled }),
    counter(titles.clusterEventsTotal, counts.published),
    gauge(titles.clusterOldestPendingSeconds, ageMs / 1000),
    gauge(titles.clusterFanouts, fanOuts),
    gauge(titles.clusterReplays, replays),
    gauge(titles.clusterNotices, notices),
    gaugeBy('role', titles.clusterNodes, byRole),
  ];
}

function laneScanFamilies({ lanes, subscriptions }: LaneScan, nowMs: number): Family[] {
  const { open, held, ordered, limited, broken, probing } = lanes;
  const { due, oldestDueMs, oldestReadyMs } = lanes;
  const closed = open + held - broken - probing;
  const ageOf = (ms: number | undefined): number =>
    ms === undefined ? 0 : Math.max(nowMs - ms, 0) / 1000;
  return [
    gauge(titles.clusterDeliveriesDue, due),
    gauge(titles.clusterOldestDueSeconds, ageOf(oldestDueMs)),
    gauge(titles.clusterOldestReadySeconds, ageOf(oldestReadyMs)),
    gaugeBy('kind', titles.clusterLanes, {
      open,
      held,
      ordered,
      limited,
      broken: broken + probing,
    }),
    gaugeBy('state', titles.clusterBreakers, { closed, open: broken, half_open: probing }),
    gaugeBy('state', titles.clusterSubscriptions, { ...subscriptions }),
  ];
}

function diskFamilies({ freeBytes, totalBytes, usedBytes }: DiskUsage): Family[] {
  return [
    gauge(titles.dataFreeBytes, freeBytes),
    gauge(titles.dataSizeBytes, totalBytes),
    gauge(titles.dataUsedBytes, usedBytes),
  ];
}

/** A gauge that is always 1; its labels carry the information. */
function info(title: Title, labels: Labels): Family {
  return { ...title, type: 'gauge', samples: [{ labels, value: 1 }] };
}

// Names and help of the metrics of a scrape. Those of the process are in process-meter.ts, those
// that a node counts in meter.ts.

const titles = {
  storeUp: {
    name: 'ringback_store_up',
    help:
      'Whether the store responded to this scrape in time; when it is 0, ringback_cluster_… ' +
      'is missing.',
  },
  buildInfo: { name: 'ringback_build_info', help: 'Version of the program.' },
  nodeInfo: { name: 'ringback_node_info', help: 'Name and role of this node.' },
  nodeFresh: {
    name: 'ringback_node_fresh',
    help: 'Whether a recent heartbeat of this node reached the store.',
  },
  windowDeliveries: {
    name: 'ringback_window_deliveries',
    help: 'Deliveries in flight on this node.',
  },
  windowMax: {
    name: 'ringback_window_max',
    help: 'Maximum number of deliveries in flight on a node.',
  },
  streams: {
    name: 'ringback_streams',
    help: 'Live view streams open on this node.',
  },
  storeWaiting: {
    name: 'ringback_store_waiting',
    help: 'Operations queued for the next store batch.',
  },
  admissionInFlight: {
    name: 'ringback_admission_under_way',
    help: 'Requests in progress on this node.',
  },
  admissionPublishLimit: {
    name: 'ringback_admission_publish_limit',
    help: 'Maximum number of publishes of one app in progress, currently: the lowest of all apps.',
  },
  admissionChangeLimit: {
    name: 'ringback_admission_change_limit',
    help: 'Changes other than publishes that may be in progress now.',
  },
  admissionChangesWaiting: {
    name: 'ringback_admission_changes_waiting',
    help: 'Changes in progress that wait for their turn beside publishes.',
  },
  admissionBodyBytes: {
    name: 'ringback_admission_body_bytes',
    help: 'Large request bodies being received or processed.',
  },
  admissionUnreadBytes: {
    name: 'ringback_admission_unread_bytes',
    help: 'Large responses waiting to be read by the client.',
  },
  clusterDeliveries: {
    name: 'ringback_cluster_deliveries',
    help: 'Deliveries that have not ended: pending, for whatever reason, or running.',
  },
  clusterDeliveriesEndedTotal: {
    name: 'ringback_cluster_deliveries_ended_total',
    help: 'Deliveries that have ended, by outcome, since the database was created.',
  },
  clusterEventsTotal: {
    name: 'ringback_cluster_events_total',
    help: 'Events since the database was created.',
  },
  clusterOldestPendingSeconds: {
    name: 'ringback_cluster_oldest_pending_seconds',
    help:
      'Age of the oldest event with a delivery that has not ended, for whatever reason; 0: ' +
      'none.',
  },
  clusterFanouts: { name: 'ringback_cluster_fanouts', help: 'Large fan-outs in progress.' },
  clusterReplays: { name: 'ringback_cluster_replays', help: 'Running replays.' },
  clusterNotices: {
    name: 'ringback_cluster_notices',
    help: 'Ringback’s own events that are not published yet.',
  },
  clusterNodes: { name: 'ringback_cluster_nodes', help: 'Live nodes of the cluster.' },
  clusterDeliveriesDue: {
    name: 'ringback_cluster_deliveries_due',
    help:
      'Due deliveries, including throttled and paused ones; counted up to ' +
      `${limits.dueCountedMax}.`,
  },
  clusterOldestDueSeconds: {
    name: 'ringback_cluster_oldest_due_seconds',
    help:
      'How long the oldest due delivery has been waiting, including throttled and paused ' +
      'ones; 0: none.',
  },
  clusterOldestReadySeconds: {
    name: 'ringback_cluster_oldest_ready_seconds',
    help:
      'The same, counting only deliveries that could be sent now: a growing number means ' +
      'that nodes lag behind.',
  },
  clusterLanes: {
    name: 'ringback_cluster_lanes',
    help:
      'Lanes by state: open or held; both also counted as ordered, limited (by rate) and ' +
      'broken.',
  },
  clusterBreakers: {
    name: 'ringback_cluster_breakers',
    help:
      'Lanes by the state of their circuit breaker: closed, open, or half open (the next ' +
      'delivery is the probe).',
  },
  clusterSubscriptions: {
    name: 'ringback_cluster_subscriptions',
    help: 'Subscriptions that have not ended.',
  },
  dataFreeBytes: {
    name: 'ringback_data_free_bytes',
    help: 'Free space on the file system of the data folder.',
  },
  dataSizeBytes: {
    name: 'ringback_data_size_bytes',
    help: 'Total space on the file system of the data folder.',
  },
  dataUsedBytes: {
    name: 'ringback_data_used_bytes',
    help: 'Size of the database, including its log.',
  },
} as const;
