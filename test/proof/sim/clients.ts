// All who use the service from outside. They write down what they were told, and know nothing else.
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
