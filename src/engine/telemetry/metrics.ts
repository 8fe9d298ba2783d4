// All metrics of a scrape: counters and state of this node, resources of its process, and what the
// store knows. `ringback_cluster_…` is the same on every node of a database: aggregate it with max,
// never with sum.
import { pendingOf } from '../../core/telemetry/statistics.ts';
import { timeOf } from '../../core/base/id.ts';
import { limits } from '../../core/limits/limits.ts';
import { counter, counterBy, gauge, gaugeBy } from '../../core/telemetry/metric.ts';
import type { Family, Labels, Title } from '../../core/telemetry/metric.ts';
import { version } from '../../core/base/version.ts';
import type { World } from '../../core/base/world.ts';
import type { NodeRole } from '../../store/port/node-verbs.ts';
import type { Store } from '../../store/port/store.ts';
import type { AdmissionFigures } from '../admission/admission.ts';
import type { LaneScan } from '../upkeep/lane-scan.ts';
import type { Disk } from './disk.ts';
import type { Meter } from './meter.ts';
import { titles } from './metric-titles.ts';
import { ProcessMeter } from './process-meter.ts';
import { createStoreWatch, type StoreView, type WatchDeps } from './store-view.ts';

export interface MetricsDeps extends WatchDeps {
  world: World;
  store: WatchDeps['store'] & Pick<Store, 'waiting'>;
  meter: Pick<Meter, 'families'>;
  self: { readonly name: string; readonly role: NodeRole; isFresh(): boolean };
  /** Deliveries that this node holds. */
  inFlight: () => number;
  streams: () => number;
  admission: () => AdmissionFigures;
}

export interface Metrics extends AsyncDisposable {
  /** Always answers, whatever the store does. */
  read: () => Promise<Family[]>;
}

export function startMetrics(deps: MetricsDeps): Metrics {
  const watch = createStoreWatch(deps);
  const ofProcess = new ProcessMeter(deps.world);
  return {
    read: async () => [...familiesOf(deps, await watch.look()), ...ofProcess.families()],
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
    ...(view?.census === undefined ? [] : censusFamilies(view.census, view.nowMs)),
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

function admissionFamilies(figures: AdmissionFigures): Family[] {
  const { publishLimit, changeLimit, inFlight, bytes, unreadBytes } = figures;
  return [
    gaugeBy('kind', titles.admissionInFlight, { ...inFlight }),
    gauge(titles.admissionPublishLimit, publishLimit),
    gauge(titles.admissionChangeLimit, changeLimit),
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

function censusFamilies({ lanes, subscriptions }: LaneScan, nowMs: number): Family[] {
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

function diskFamilies({ freeBytes, totalBytes, usedBytes }: Disk): Family[] {
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
