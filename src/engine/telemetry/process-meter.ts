// Resources of the process: CPU, memory, garbage collection, and event loop lag. The names are
// those of Prometheus and its client for Node, so that existing dashboards work.
import {
  constants,
  monitorEventLoopDelay,
  performance,
  PerformanceObserver,
} from 'node:perf_hooks';
import { limits } from '../../core/limits/limits.ts';
import {
  counter,
  createHistogram,
  gauge,
  histogramFamily,
  labelled,
  observe,
} from '../../core/telemetry/metric.ts';
import type { Family } from '../../core/telemetry/metric.ts';
import type { World } from '../../core/base/world.ts';

export class ProcessMeter {
  readonly #world: Pick<World, 'nowMs' | 'monotonicMs'>;
  readonly #startedMs: number;
  readonly #delays: ReturnType<typeof monitorEventLoopDelay>;
  readonly #collections = labelled(['kind'], () => createHistogram(collectionBounds));
  readonly #observer: PerformanceObserver;
  /** Of the previous span. */
  #before: Lag = noLag;
  #spanMs: number;

  constructor(world: Pick<World, 'nowMs' | 'monotonicMs'>) {
    this.#world = world;
    this.#startedMs = world.nowMs();
    this.#spanMs = world.monotonicMs();
    this.#delays = monitorEventLoopDelay({ resolution: limits.loopResolutionMs });
    this.#delays.enable();
    for (const kind of kinds.values()) this.#collections.of(kind); // A rate needs an initial zero.
    this.#observer = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        const kind = kindOf('detail' in entry ? entry.detail : undefined);
        observe(this.#collections.of(kind), entry.duration / 1000);
      }
    });
    this.#observer.observe({ entryTypes: ['gc'] });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#delays.disable();
    this.#observer.disconnect();
  }

  families(): Family[] {
    const { user, system } = process.cpuUsage();
    const { rss, heapTotal, heapUsed, external } = process.memoryUsage();
    const { active, idle } = performance.eventLoopUtilization();
    return [
      counter(names.cpu, (user + system) / 1_000_000),
      gauge(names.resident, rss),
      gauge(names.started, this.#startedMs / 1000),
      gauge(names.heap, heapTotal),
      gauge(names.heapUsed, heapUsed),
      gauge(names.external, external),
      histogramFamily(names.gc, this.#collections),
      ...this.#lagFamilies(),
      counter(names.active, active / 1000),
      counter(names.idle, idle / 1000),
    ];
  }

  /**
   * The worse of this span and the previous one, so that each of several scrapers sees every delay
   * at least once. The measuring timer is late by its own resolution, which is subtracted.
   */
  #lagFamilies(): Family[] {
    const now = lagIn(this.#delays);
    const before = this.#before;
    const nowMs = this.#world.monotonicMs();
    if (nowMs - this.#spanMs >= limits.loopSpanMs) {
      this.#spanMs = nowMs;
      this.#before = now;
      this.#delays.reset();
    }
    return [
      gauge(names.lagHalf, Math.max(now.half, before.half)),
      gauge(names.lagMost, Math.max(now.most, before.most)),
      gauge(names.lagWorst, Math.max(now.worst, before.worst)),
    ];
  }
}

/** In seconds: the median, the 99th percentile and the maximum of the lag. */
interface Lag {
  half: number;
  most: number;
  worst: number;
}

const noLag: Lag = { half: 0, most: 0, worst: 0 };

function lagIn(delays: ReturnType<typeof monitorEventLoopDelay>): Lag {
  if (delays.count === 0) return noLag;
  const [half, most] = [delays.percentile(50), delays.percentile(99)];
  return { half: lagAt(half), most: lagAt(most), worst: lagAt(delays.max) };
}

function lagAt(ns: number): number {
  return Math.max(ns / 1e9 - limits.loopResolutionMs / 1000, 0);
}

const collectionBounds = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1];

const lateness = 'late timers fired in the last 30 to 60 seconds.';
const names = {
  cpu: { name: 'process_cpu_seconds_total', help: 'CPU time of the process, all threads.' },
  resident: { name: 'process_resident_memory_bytes', help: 'Resident memory of the process.' },
  started: {
    name: 'process_start_time_seconds',
    help: 'Start time of the process, as a Unix timestamp.',
  },
  heap: { name: 'nodejs_heap_size_total_bytes', help: 'Heap size reserved by the runtime.' },
  heapUsed: { name: 'nodejs_heap_size_used_bytes', help: 'Heap size in use.' },
  external: { name: 'nodejs_external_memory_bytes', help: 'Memory outside the heap: buffers.' },
  gc: { name: 'nodejs_gc_duration_seconds', help: 'Duration of garbage collections, by kind.' },
  lagHalf: { name: 'ringback_loop_lag_p50_seconds', help: `The median of how ${lateness}` },
  lagMost: {
    name: 'ringback_loop_lag_p99_seconds',
    help: `The 99th percentile of how ${lateness}`,
  },
  lagWorst: { name: 'ringback_loop_lag_max_seconds', help: `The worst of how ${lateness}` },
  active: { name: 'ringback_loop_active_seconds_total', help: 'Time the event loop was busy.' },
  idle: {
    name: 'ringback_loop_idle_seconds_total',
    help: 'Time the event loop was idle.',
  },
} as const;

const kinds = new Map<unknown, string>([
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'major'],
  [constants.NODE_PERFORMANCE_GC_MINOR, 'minor'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weakcb'],
]);

function kindOf(detail: unknown): string {
  const isKnown = typeof detail === 'object' && detail !== null && 'kind' in detail;
  return (isKnown ? kinds.get(detail.kind) : undefined) ?? 'other';
}
