// How long publishes of others wait for their answer during something else: events without
// subscribers, at a fixed rate that does not wait for answers.
import type { Contender } from '../contenders/contender.ts';
import { quantile } from './round-statistics.ts';
import type { Loaded } from './load.ts';
import { plainPayload } from './numbered-payloads.ts';
import type { Stage } from './measure.ts';

export interface Others {
  requests: number;
  connections: number;
  perSecond: number;
}

/** The 99th percentile, in milliseconds. */
export async function latencyOfOthers(
  stage: Stage,
  { publish }: Pick<Contender, 'publish'>,
  others: Others,
): Promise<number> {
  const bodies = [JSON.stringify({ event: 'unheard', payload: plainPayload() })];
  return quantile(
    answerMs(await stage.load({ ...publish, path: '/events', bodies, ...others })),
    0.99,
  );
}

/** From each request to its answer. */
export function answerMs({ sentMs, answeredMs }: Loaded): Float64Array {
  return answeredMs.map((at, n) => at - (sentMs[n] ?? at));
}
