// Counts what this node does, by hooks that its parts call. No label holds a name of an app, an id
// or a URL. A hook costs 50 to 140 ns (docs/performance.md).
import { timeOf } from '../../core/base/id.ts';
import type { ProblemCode } from '../../core/errors/problem.ts';
import {
  counterFamily,
  counters,
  createHistogram,
  histogramFamily,
  labelled,
  observe,
  type Family,
  type Histogram,
  type Title,
} from '../../core/telemetry/metric.ts';
import type { BatchFacts } from '../../store/batch/batch-cycle.ts';
import type { Accepted, Settlement } from '../../store/port/delivery-verbs.ts';
import type { Changes } from '../live/changes.ts';

/** A request that was answered. */
export interface Answered {
  /** Undefined if no operation matched. */
  operation: string | undefined;
  status: number;
  tookMs: number;
  /** Set if the request was refused. */
  code: ProblemCode | undefined;
}

export interface Meter {
  published: (events: readonly Accepted[]) => void;
  /** Called when an outcome was committed. `nowMs`: by the clock that ids are made with. */
  settled: (settlement: Settlement, nowMs: number) => void;
  batch: (batch: BatchFacts) => void;
  answered: (request: Answered) => void;
  exchanged: (operation: string, result: ExchangeResult) => void;
  /** A request for the API behind the gateway that does not fit the document. */
  misfit: (operation: string) => void;
  families: () => Family[];
}

/**
 * What became of a request with a callback URL for the API behind the gateway. `unconfirmed`: the API accepted it, but that
 * could not be stored in time. `unregistered`: it was passed on while the store was down.
 */
export type ExchangeResult = 'registered' | 'refused' | 'unconfirmed' | 'unregistered';

/** In seconds. */
const attemptBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60];
const latencyBounds = [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 1_800, 7_200, 21_600, 86_400];
const batchBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const requestBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const sizeBounds = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

const titles = {
  published: {
    name: 'ringback_events_total',
    help: 'Events accepted by this node.',
  },
  attempts: {
    name: 'ringback_attempts_total',
    help: 'Attempts made by this node, by result and error.',
  },
  released: {
    name: 'ringback_deliveries_released_total',
    help:
      'Deliveries released without an attempt: paused, moved, stopped, or an internal ' +
      'failure.',
  },
  attemptTook: {
    name: 'ringback_attempt_duration_seconds',
    help: 'Duration of attempts.',
  },
  latency: {
    name: 'ringback_delivery_latency_seconds',
    help: 'Time from publishing an event to the end of the attempt that delivered it.',
  },
  batches: {
    name: 'ringback_store_batches_total',
    help: 'Batches that this node sent to the store, by result.',
  },
  batchTook: {
    name: 'ringback_store_batch_duration_seconds',
    help: 'Duration of a batch in the store, commit included.',
  },
  batchSize: {
    name: 'ringback_store_batch_size',
    help: 'Edits and settlements per batch.',
  },
  requests: {
    name: 'ringback_requests_total',
    help: 'Requests answered by this node.',
  },
  requestTook: {
    name: 'ringback_request_duration_seconds',
    help: 'Request duration until the response was sent; streams excluded.',
  },
  refusals: {
    name: 'ringback_refusals_total',
    help: 'Requests rejected by this node, by error code (docs/errors.md).',
  },
  exchanges: {
    name: 'ringback_exchanges_total',
    help: 'Requests with a callback URL for the API behind the gateway, by what became of them.',
  },
  misfits: {
    name: 'ringback_exchange_misfits_total',
    help: 'Requests for the API behind the gateway that do not fit the document.',
  },
} as const satisfies Record<string, Title>;

/**
 * A stream stays open while a client watches, so its duration says nothing about response times.
 */
const lasting = 'openStream';

export function createMeter(): Meter {
  const published = counters();
  const attempts = counters('outcome', 'error');
  const released = counters();
  const attemptTook = histograms(attemptBounds)();
  const latency = histograms(latencyBounds)();
  const batches = counters('kind', 'result');
  const batchTook = labelled(['kind'], histograms(batchBounds));
  const batchSize = labelled(['kind'], histograms(sizeBounds));
  const requests = counters('operation', 'status');
  const requestTook = labelled(['operation'], histograms(requestBounds));
  const refusals = counters('operation', 'code');
  const exchanges = counters('operation', 'result');
  const misfits = counters('operation');
  // Prometheus does not see the rise of a counter that first appears with 1. Counters used by
  // alerts are created with 0.
  for (const all of [published, released]) all.of();
  attempts.of('delivered', 'none');
  for (const kind of ['edits', 'work']) {
    for (const result of ['done', 'failed']) batches.of(kind, result);
  }
  return {
    published: (events) => {
      published.of().count += events.length;
    },
    settled: ({ event, outcome, attempt }, nowMs) => {
      if (outcome.kind === 'released') released.of().count += 1;
      if (attempt === undefined) return;
      attempts.of(outcome.kind, attempt.error ?? 'none').count += 1;
      observe(attemptTook, attempt.tookMs / 1000);
      if (outcome.kind === 'delivered') observe(latency, Math.max(nowMs - timeOf(event), 0) / 1000);
    },
    batch: ({ kind, size, tookMs, isDone }) => {
      batches.of(kind, isDone ? 'done' : 'failed').count += 1;
      observe(batchTook.of(kind), tookMs / 1000);
      observe(batchSize.of(kind), size);
    },
    answered: ({ operation = 'none', status, tookMs, code }) => {
      requests.of(operation, `${Math.floor(status / 100)}xx`).count += 1;
      if (operation !== lasting) observe(requestTook.of(operation), tookMs / 1000);
      if (code !== undefined) refusals.of(operation, code).count += 1;
    },
    exchanged: (operation, result) => {
      exchanges.of(operation, result).count += 1;
    },
    misfit: (operation) => {
      misfits.of(operation).count += 1;
    },
    families: () => [
      counterFamily(titles.published, published),
      counterFamily(titles.attempts, attempts),
      counterFamily(titles.released, released),
      one(titles.attemptTook, attemptTook),
      one(titles.latency, latency),
      counterFamily(titles.batches, batches),
      histogramFamily(titles.batchTook, batchTook),
      histogramFamily(titles.batchSize, batchSize),
      counterFamily(titles.requests, requests),
      histogramFamily(titles.requestTook, requestTook),
      counterFamily(titles.refusals, refusals),
      counterFamily(titles.exchanges, exchanges),
      counterFamily(titles.misfits, misfits),
    ],
  };
}

/** Adds the meter to the change notifications. */
export function metered(changes: Changes, meter: Pick<Meter, 'published'>): Changes {
  return {
    ...changes,
    published: (appNo, events) => {
      meter.published(events);
      changes.published(appNo, events);
    },
  };
}

function histograms(bounds: readonly number[]): () => Histogram {
  return () => createHistogram(bounds);
}

function one(title: Title, histogram: Histogram): Family {
  return { ...title, type: 'histogram', histograms: [{ labels: {}, histogram }] };
}
