// What an app may use at most. The operator sets it for all apps by settings, and for one app by itself.

export interface Quotas {
  /** Subscriptions that have not ended. */
  subscriptions: number | undefined;
  eventsPerSecond: number | undefined;
  /** Of one event. */
  payloadBytes: number | undefined;
}

export const noQuotas: Quotas = {
  subscriptions: undefined,
  eventsPerSecond: undefined,
  payloadBytes: undefined,
};

/** What an app has of its own comes first. */
export function quotasOf(own: Quotas, fallback: Quotas): Quotas {
  return {
    subscriptions: own.subscriptions ?? fallback.subscriptions,
    eventsPerSecond: own.eventsPerSecond ?? fallback.eventsPerSecond,
    payloadBytes: own.payloadBytes ?? fallback.payloadBytes,
  };
}
