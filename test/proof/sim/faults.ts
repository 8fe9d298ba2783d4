// Lets things go wrong at the rates of the plan, until the end of that time.
import type { Clients } from './clients.ts';
import type { SimulatedNode, Simulation } from './node.ts';

export function beginFaults(sim: Simulation, clients: Clients): void {
  const { plan, chance, clock, counters, nodes, network, shared } = sim;
  const { perMinute } = plan;
  const nowAndThen = (rate: number, act: () => void): void => {
    if (rate === 0) return;
    const again = (): void => {
      const waitMs = (-Math.log(1 - chance.next()) * 60_000) / rate;
      if (clock.nowMs + waitMs >= plan.faultsMs) return;
      clock.after(waitMs, () => {
        act();
        again();
      });
    };
    again();
  };
  const someNode = (): SimulatedNode => chance.pick(nodes);
  const leftMs = (): number => plan.faultsMs - clock.nowMs;
  nowAndThen(perMinute.crash, () => {
    const node = someNode();
    if (node.state === 'down') return;
    node.crash();
    const awayMs = chance.isLucky(0.7) ? chance.between(100, 5_000) : chance.between(5_000, 60_000);
    clock.after(Math.min(awayMs, leftMs() + 1_000), () => node.start());
  });
  nowAndThen(perMinute.pause, () => {
    const node = someNode();
    if (node.state === 'down' || node.isFrozen) return;
    const ms = chance.isLucky(0.5) ? chance.between(100, 5_000) : chance.between(10_000, 80_000);
    node.freeze(Math.min(ms, leftMs() + 5_000));
  });
  nowAndThen(perMinute.restart, () => {
    const node = someNode();
    if (node.isFrozen) return;
    const awayMs = chance.between(10, 3_000);
    node.stop(() => clock.after(awayMs, () => node.start()));
  });
  nowAndThen(perMinute.outage, () => {
    const ms = chance.between(200, 8_000);
    clock.note(`the store is away for ${Math.round(ms)} ms`);
    counters.outages += 1;
    shared.downUntilMs = clock.nowMs + ms;
    shared.lastDownMs = shared.downUntilMs;
  });
  nowAndThen(perMinute.clockStep, () => {
    const node = someNode();
    const ms = chance.pick([1_000, 60_000, 3_600_000, 86_400_000]) * chance.pick([-1, 1]);
    node.aheadMs += Math.round(ms * chance.next());
    counters.clockSteps += 1;
    clock.note(`the clock of ${node.name} is ${node.aheadMs} ms ahead`);
  });
  nowAndThen(perMinute.receiverDies, () => {
    const receiver = chance.pick(network.receivers);
    receiver.deadUntilMs = clock.nowMs + chance.between(1_000, 60_000);
    clock.note(`${receiver.url} is dead for a while`);
  });
  nowAndThen(perMinute.unsubscribe, () => clients.begin(async () => clients.unsubscribe()));
  nowAndThen(perMinute.subscribe, () => clients.begin(async () => clients.subscribe()));
  nowAndThen(perMinute.edit, () => clients.begin(async () => clients.edit()));
  nowAndThen(perMinute.redrive, () => clients.begin(async () => clients.redrive()));
  for (let count = 0; count < plan.events; count += 1) {
    // Some at once: they share a batch, and their receivers a lane.
    const atMs = chance.isLucky(0.3) ? 100 : chance.between(0, plan.faultsMs);
    clock.after(atMs, () => clients.begin(async () => clients.publish()));
  }
}

/** From here on nothing goes wrong any more. */
export function heal({ clock, network, shared, nodes }: Simulation): void {
  clock.note('all is healed');
  network.isHealed = true;
  for (const receiver of network.receivers) receiver.deadUntilMs = 0;
  shared.isHealed = true;
  shared.downUntilMs = 0;
  for (const node of nodes) node.start();
}
