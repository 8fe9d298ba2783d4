// DNS rebinding: names resolve to a public address at subscribe and to something else at the callback. It uses a real
// name server on loopback, real lookups, and a connector that records every connect and lets none leave the machine.
import { systemResolver } from '../../../src/egress/guard/resolve.ts';
import { answering, ok, startReceiver, type Receiver } from '../../egress/receiver.ts';
import { startNameServer } from '../../egress/name-server.ts';
import { publish, subscribe } from '../../e2e/stage.ts';
import { migratedMemory } from '../../store/migrated-memory.ts';
import type { Finding } from '../finding.ts';
import { seededChance, type Chance } from '../sim/chance.ts';
import { forbidden4, forbidden6, Ledger } from './ledger.ts';
import { nameOf, plainScenarios, scenarios, slowScenarios, zoneOf, type Zone } from './names.ts';
import { recorder, type Recorder } from './recorder.ts';
import { attemptsOf, closed, forAll, startOn } from './stage.ts';

export interface RebindingOptions {
  /** Names per scenario with a forbidden address. */
  names: number;
  /** Names per scenario without one, and per slow scenario. */
  plainNames: number;
  slowNames: number;
  /** Attempts per name. Fewer than ten, so that no circuit breaker opens. */
  events: number;
  seed: number;
}

export async function proveRebinding(options: RebindingOptions): Promise<Finding> {
  const chance = seededChance(options.seed);
  const ledger = new Ledger();
  const zone = zoneOf({ ledger, chance });
  await using names = await startNameServer(zone.answer);
  await using receiver = await receiving();
  await using elsewhere = await receiving();
  const dials = recorder({
    fault: ({ address }) => ledger.fault(address),
    answers: ({ address }) =>
      ledger.told(address)?.scenario.startsWith('astray') === true
        ? { port: elsewhere.port, shows: somewhereElse(chance) }
        : { port: receiver.port, shows: address },
  });
  const db = migratedMemory();
  await using service = await startOn(db, {
    env: closed,
    network: { connector: dials },
    resolver: systemResolver(undefined, { servers: [names.at] }),
  });
  const list = namesOf(options);
  await forAll(list, async (name, at) => {
    // Every third over TLS, where the first bytes would be a handshake.
    await subscribe(service, at % 3 === 0 ? `https://${name}/` : `http://${name}:8080/`);
  });
  zone.turn();
  for (let event = 0; event < options.events; event += 1) {
    await publish(service, 'a');
    await attemptsOf(db, list.length * (event + 1));
  }
  const attempts = await attemptsOf(db, list.length * options.events);
  const figures = {
    names: list.length,
    attempts: list.length * options.events,
    'look-ups at attempts': zone.lookUps,
    'answers with a forbidden address': zone.tainted,
    'connections led astray': elsewhere.seen.accepted,
    tries: zone.tainted + elsewhere.seen.accepted,
    dials: dials.dials,
    ...attempts,
  };
  const seen = { zone, dials, receiver, elsewhere, attempts };
  return { part: 'rebinding', figures, violations: faultsOf(seen) };
}

interface Seen {
  zone: Zone;
  dials: Recorder;
  receiver: Receiver;
  elsewhere: Receiver;
  attempts: Readonly<Record<string, number>>;
}

function faultsOf({ zone, dials, receiver, elsewhere, attempts }: Seen): string[] {
  const violations = [...dials.violations];
  const { accepted, bytes } = elsewhere.seen;
  if (bytes > 0) violations.push(`I15: wrote ${bytes} bytes to connections that ended elsewhere`);
  const [stranger] = zone.strangers;
  if (stranger !== undefined) violations.push(`I15: looked up "${stranger}", which no URL named`);
  // A run without these situations proves nothing.
  const met = {
    'a forbidden answer': zone.tainted,
    'a public dial': dials.dials,
    'a callback that arrived': receiver.seen.requests,
    'a connection led astray': accepted,
    'a blocked attempt': attempts['blocked'] ?? 0,
    'a failed look-up': attempts['dns'] ?? 0,
  };
  for (const [what, count] of Object.entries(met)) {
    if (count === 0) violations.push(`never met: ${what}`);
  }
  return violations;
}

function namesOf({ names, plainNames, slowNames }: RebindingOptions): string[] {
  return Object.keys(scenarios).flatMap((scenario) => {
    const plain = plainScenarios.has(scenario) ? plainNames : names;
    const count = slowScenarios.has(scenario) ? slowNames : plain;
    return Array.from({ length: count }, (_, no) => nameOf(scenario, no));
  });
}

/** Closes the connection after each response, so that the next attempt needs a new lookup. */
async function receiving(): Promise<Receiver & AsyncDisposable> {
  const closing = ok().replace('content-length', 'connection: close\r\ncontent-length');
  const receiver = await startReceiver(answering(closing));
  return Object.assign(receiver, { [Symbol.asyncDispose]: async () => receiver.stop() });
}

/** An address that differs from the requested one, forbidden or not. */
function somewhereElse(chance: Chance): string {
  return chance.pick([...forbidden4, ...forbidden6, '45.255.255.255', '2a00:ffff::1']);
}
