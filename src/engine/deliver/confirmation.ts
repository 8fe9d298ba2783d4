// The one-second rule. Nodes are not notified when another one ends or changes a subscription, so
// an attempt starts only within a second of the moment when the store confirmed that its lane is
// open. An attempt that waits longer for a connection has its target read again. With a single
// process the gate alone is exact.
import { limits } from '../../core/limits/limits.ts';
import type { World } from '../../core/base/world.ts';
import { Deadlines, type Deadline, type DeadlineOwner } from '../../egress/http/deadlines.ts';
import type { Gate } from './gate.ts';
import type { KnownTarget } from '../targets/prepared-target.ts';
import type { TargetCache } from '../targets/target-cache.ts';

export interface Confirmation {
  /** Whether an attempt may start now, by the last confirmation. */
  isFresh(): boolean;
  /**
   * Reads the target from the store; `shared` accepts a read of a moment ago. If the subscription
   * has changed, the gate closes, as it does for a change on this node.
   */
  renew(how: 'shared' | 'fresh'): Promise<void>;
  /** The attempt has started or will not start; stop renewing. */
  end(): void;
}

export interface Confirmer {
  /** `confirmedMs`: by `elapsedMs`, when the store was asked for the lease. */
  confirm(target: KnownTarget, confirmedMs: number): Confirmation;
  close(): void;
}

/** For a process that is alone on its database: every change passes through its gate. */
export const noConfirmer: Confirmer = {
  confirm: () => always,
  close: () => undefined,
};

const always: Confirmation = {
  isFresh: () => true,
  renew: async () => undefined,
  end: () => undefined,
};

export interface ConfirmerDeps {
  world: Pick<World, 'monotonicMs' | 'elapsedMs' | 'sleep'>;
  targets: TargetCache;
  gate: Gate;
}

export function createConfirmer(deps: ConfirmerDeps): Confirmer {
  const deadlines = new Deadlines(deps.world);
  const keeping = { ...deps, deadlines };
  return {
    confirm: (target, confirmedMs) => new Kept(keeping, target, confirmedMs),
    close: () => deadlines.close(),
  };
}

class Kept implements Confirmation, DeadlineOwner {
  readonly #deps: ConfirmerDeps & { deadlines: Deadlines };
  readonly #target: KnownTarget;
  #confirmedMs: number;
  #deadline: Deadline;
  #isOver = false;

  constructor(
    deps: ConfirmerDeps & { deadlines: Deadlines },
    target: KnownTarget,
    confirmedMs: number,
  ) {
    this.#deps = deps;
    this.#target = target;
    this.#confirmedMs = confirmedMs;
    this.#deadline = deps.deadlines.set(limits.confirmKeepMs, this);
  }

  isFresh(): boolean {
    return this.#deps.world.elapsedMs() - this.#confirmedMs <= limits.confirmedMs;
  }

  async renew(how: 'shared' | 'fresh'): Promise<void> {
    const { world, targets, gate } = this.#deps;
    const { callback, version, subscription } = this.#target;
    const sinceMs = how === 'fresh' ? Infinity : world.elapsedMs() - limits.confirmShareMs;
    const { target, readMs } = await targets.readSince(callback, sinceMs);
    // The lease was given while the lane was open. A pause, a new target and an end each raise the
    // version.
    if (target?.isActive !== true) gate.close(subscription, 'ended');
    else if (target.version !== version) gate.close(subscription, 'held');
    else this.#confirmedMs = Math.max(this.#confirmedMs, readMs);
  }

  end(): void {
    this.#isOver = true;
    this.#deps.deadlines.clear(this.#deadline);
  }

  expire(): void {
    // After a failure it stays unconfirmed. The attempt then renews it and gets the error.
    void this.renew('shared')
      .catch(() => undefined)
      .then(() => {
        if (this.#isOver) return;
        this.#deadline = this.#deps.deadlines.set(limits.confirmKeepMs, this);
      });
  }
}
