// The gate between a delivery and the wire. A delivery registers when its subscription is known,
// and checks the gate right before its request is written. Closing the gate stops every delivery
// registered in between, which is why nothing starts after an unsubscribe was answered. The rate limit
// of a subscription is applied earlier, when its deliveries are claimed: core/domain/rate-limit.ts.

export type GateState = 'open' | 'held' | 'ended';

export interface Gate {
  /** Registers a delivery at the gate of its subscription until `leave`. */
  approach(subscription: string): GatePass;
  /** Stops every delivery that is registered now. */
  close(subscription: string, how: Exclude<GateState, 'open'>): void;
}

export interface GatePass {
  state(): GateState;
  leave(): void;
}

export function createGate(): Gate {
  const standing = new Map<string, Set<{ state: GateState }>>();
  return {
    approach: (subscription) => {
      const self: { state: GateState } = { state: 'open' };
      const others = standing.get(subscription) ?? new Set();
      others.add(self);
      standing.set(subscription, others);
      return {
        state: () => self.state,
        leave: () => {
          others.delete(self);
          if (others.size === 0 && standing.get(subscription) === others) {
            standing.delete(subscription);
          }
        },
      };
    },
    close: (subscription, how) => {
      for (const one of standing.get(subscription) ?? []) {
        if (one.state !== 'ended') one.state = how;
      }
    },
  };
}
