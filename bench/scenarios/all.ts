// All scenarios, in the order in which they run and are printed.
import type { Scenario } from '../harness/outcome.ts';
import { batch } from './batch.ts';
import { blackHole } from './black-hole.ts';
import { consoleQueries } from './console.ts';
import { contract } from './contract.ts';
import { fanOut } from './fan-out.ts';
import { floodingApp } from './flooding-app.ts';
import { frozenStore } from './frozen-store.ts';
import { gateway } from './gateway.ts';
import { gatewayCallbacks } from './gateway-callbacks.ts';
import { growth } from './growth.ts';
import { hangingApp } from './hanging-app.ts';
import { idle } from './idle.ts';
import { latency } from './latency.ts';
import { manySubjects } from './many-subjects.ts';
import { manySubscriptions } from './many-subscriptions.ts';
import { nodes } from './nodes.ts';
import { oneToOne } from './one-to-one.ts';
import { retryStorm } from './retry-storm.ts';
import { subscribeStorm } from './subscribe-storm.ts';

export const scenarios: readonly Scenario[] = [
  oneToOne,
  batch,
  fanOut,
  latency,
  manySubscriptions,
  manySubjects,
  growth,
  blackHole,
  hangingApp,
  floodingApp,
  subscribeStorm,
  retryStorm,
  consoleQueries,
  contract,
  gateway,
  gatewayCallbacks,
  frozenStore,
  nodes,
  idle,
];
