// Injects faults at the rates of the plan, until the end of its fault period.
import type { SimulatedNode, Simulation } from './node.ts';

type Act = () => Promise<void>;

/** What clients do meanwhile. */
export interface Activities {
  outside: { begin: (act: Act) => void };
  publishers: { publish: Act };
  subscribers: { subscribe: Act; unsubscribe: Act; edit: Act };
  redrivers: { redrive: Act; replay: Act };
}

export function beginFaults(
  sim: Simulation,
  { outside, publishers, subscribers, redrivers }: Activities,
): void {
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
    const crash = (): void => {
      if (node.state === 'down') return;
      node.crash();
      const awayMs = chance.isLucky(0.7)
        ? chance.between(100, 5_000)
        : chance.between(5_000, 60_000);
      clock.after(Math.min(awayMs, leftMs() + 1_000), () => node.start());
    };
    if (chance.isLucky(0.5)) crash();
    else {
      // Crash it while it has work in flight.
      outside.begin(async () => publishers.publish());
      clock.after(chance.between(1, 40), crash);
    }
  });
  nowAndThen(perMinute.pause, () => {
    const node = someNode();
    if (node.state === 'down' || node.isFrozen) return;
    const ms = chance.isLucky(0.5) ? chance.between(100, 5_000) : chance.between(10_000, 80_000);
    const pauseMs = Math.min(ms, leftMs() + 5_000);
    if (chance.isLucky(0.4)) node.suspend(pauseMs);
    else node.freeze(pauseMs);
  });
  nowAndThen(perMinute.restart, () => {
    const node = someNode();
    if (node.isFrozen) return;
    const awayMs = chance.between(10, 3_000);
    node.stop(() => clock.after(awayMs, () => node.start()));
  });
  nowAndThen(perMinute.outage, () => {
    const ms = chance.between(200, 8_000);
    clock.note(`the store is down for ${Math.round(ms)} ms`);
    counters.outages += 1;
    shared.downUntilMs = clock.nowMs + ms;
    shared.lastDownMs = shared.downUntilMs;
  });
  nowAndThen(perMinute.clockStep, () => {
    const node = someNode();
    const ms = chance.pick([1_000, 60_000, 3_600_000, 86_400_000]) * chance.pick([-1, 1]);
    if (plan.isShared) node.aheadMs += Math.round(ms * chance.next());
    else {
      node.aheadMs = Math.round(ms * chance.next());
      sim.clockSteps.push(clock.nowMs);
      counters.clockStepsAlone += 1;
    }
    counters.clockSteps += 1;
    clock.note(`the clock of ${node.name} is ${node.aheadMs} ms ahead`);
  });
  nowAndThen(perMinute.receiverDies, () => {
    const receiver = chance.pick(network.receivers);
    receiver.deadUntilMs = clock.nowMs + chance.between(1_000, 60_000);
    clock.note(`${receiver.url} is dead for a while`);
  });
  nowAndThen(perMinute.unsubscribe, () => outside.begin(async () => subscribers.unsubscribe()));
  nowAndThen(perMinute.subscribe, () => outside.begin(async () => subscribers.subscribe()));
  nowAndThen(perMinute.edit, () => outside.begin(async () => subscribers.edit()));
  nowAndThen(perMinute.redrive, () => outside.begin(async () => redrivers.redrive()));
  nowAndThen(perMinute.replay, () => outside.begin(async () => redrivers.replay()));
  for (let count = 0; count < plan.events; count += 1) {
    // Some at once, so that they share a batch and lanes.
    const atMs = chance.isLucky(0.3) ? 100 : chance.between(0, plan.faultsMs);
    clock.after(atMs, () => outside.begin(async () => publishers.publish()));
  }
}

/** Ends all faults. */
export function heal({ plan, clock, network, shared, nodes, clockSteps }: Simulation): void {
  clock.note('all faults end');
  network.isHealed = true;
  for (const receiver of network.receivers) receiver.deadUntilMs = 0;
  shared.isHealed = true;
  shared.downUntilMs = 0;
  for (const node of nodes) {
    if (!plan.isShared && node.aheadMs !== 0) {
      node.aheadMs = 0;
      clockSteps.push(clock.nowMs);
    }
    node.start();
  }
}
