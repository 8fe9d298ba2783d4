// The gate between a delivery and the wire. A delivery passes it twice: when its subscription is known,
// and at the last moment before its request is written. Closing it stops all that stand in between,
// which is how nothing starts after an unsubscribe was answered.

export type GateState = 'open' | 'held' | 'ended';

export interface Gate {
  /** Stands before the gate of a subscription until `leave`. */
  approach(subscription: string): Passage;
  /** Whoever stands before the gate now does not pass. */
  close(subscription: string, how: Exclude<GateState, 'open'>): void;
}

export interface Passage {
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
