// The metrics handler, for Prometheus.
import { expose, expositionMediaType } from '../../core/telemetry/exposition.ts';
import type { Family } from '../../core/telemetry/metric.ts';
import type { Handlers } from '../request/call.ts';

export function metricsHandlers(read: () => Promise<readonly Family[]>): Handlers {
  return {
    getMetrics: async () => ({
      status: 200,
      body: expose(await read()),
      mediaType: expositionMediaType,
    }),
  };
}
