// All simulated clients of the service. They know only the responses that they got, and record them.
import type { Simulation } from './node.ts';
import { ExternalDeps } from './outside-clients.ts';
import { Publishers } from './publishers.ts';
import { Redrivers } from './redrivers.ts';
import { Subscribers } from './subscribers.ts';

export interface Clients {
  outside: ExternalDeps;
  publishers: Publishers;
  subscribers: Subscribers;
  redrivers: Redrivers;
}

export function gatherClients(sim: Simulation): Clients {
  const outside = new ExternalDeps(sim);
  const publishers = new Publishers(sim, outside);
  const subscribers = new Subscribers(sim, outside, publishers);
  return { outside, publishers, subscribers, redrivers: new Redrivers(sim, outside, subscribers) };
}
