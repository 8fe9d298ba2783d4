// Opens thousands of connections that send nothing and reconnect when they are closed. They cost the attacker
// nothing, and must not lock out other clients.
import { setTimeout as wait } from 'node:timers/promises';
import { limits } from '../../../src/core/limits/limits.ts';
import { besiege, until } from './siege.ts';
import { descriptors, type Attempt } from './target.ts';
import { exchange, openWire, requestOf, type Wire } from './wire.ts';

export interface IdleOptions {
  rounds: 1 | 2;
  count: number;
  /** The service's limit on open connections. */
  mostKept: number;
  /** How long they keep reconnecting. */
  forMs: number;
}

export const idleFull = {
  rounds: 2,
  count: 5_000,
  mostKept: limits.connectionsMax,
  forMs: 3_000,
} as const;

export const idleSmall = {
  rounds: 1,
  count: 100,
  mostKept: 64,
  forMs: 50,
} as const;

export async function beIdle(attempt: Attempt, options: IdleOptions): Promise<void> {
  const { target, figures, violations } = attempt;
  const before = descriptors(target);
  let opened = 0;
  let mostHeld = 0;
  await besiege(attempt, { name: 'idle connections', rounds: options.rounds }, async () => {
    const wires: (Wire | undefined)[] = Array.from({ length: options.count });
    const endMs = performance.now() + options.forMs;
    do {
      for (const [at, wire] of wires.entries()) {
        if (wire !== undefined && !wire.isOver()) continue;
        wire?.[Symbol.dispose]();
        wires[at] = openWire(target.url);
        opened += 1;
        if (opened % pieceMax !== 0) continue;
        await wait(1);
        mostHeld = Math.max(mostHeld, descriptors(target) - before);
      }
      await wait(20);
    } while (performance.now() < endMs);
    // All of them are connected now; a new client must still be served.
    const { answers } = await exchange(target.url, requestOf('GET /healthz'));
    if (answers[0]?.status !== 200) {
      violations.push('I12: during idle connections: a new client is not served');
    }
    for (const wire of wires) wire?.[Symbol.dispose]();
  });
  const isFew = mostHeld <= options.mostKept + limits.connectionsSpare + 50;
  if (!isFew)
    violations.push(
      `I11: it held ${mostHeld} more descriptors, expected at most ${options.mostKept}`,
    );
  if (!(await until(() => descriptors(target) <= before + 20))) {
    violations.push(`I11: it holds ${descriptors(target)} descriptors, before ${before}`);
  }
  figures['idle connections opened'] = opened;
  figures['most descriptors held'] = mostHeld;
}

/** Connections opened at a time, so that the accept queue of the system does not overflow. */
const pieceMax = 100;
