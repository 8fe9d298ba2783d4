// All scenarios, in the order in which they are run and printed.
import type { Scenario } from '../harness/outcome.ts';
import { latency } from './latency.ts';
import { oneToOne } from './one-to-one.ts';

export const scenarios: readonly Scenario[] = [oneToOne, latency];
