// What an app may use at most. The operator sets defaults for all apps in the settings, and
// overrides for single apps.

export interface Quotas {
  /** Subscriptions that have not ended. */
  subscriptions: number | undefined;
  eventsPerSecond: number | undefined;
  /** Bytes of one event. */
  payloadBytes: number | undefined;
}

export const noQuotas: Quotas = {
  subscriptions: undefined,
  eventsPerSecond: undefined,
  payloadBytes: undefined,
};

/** The app's own quotas take precedence. */
export function quotasOf(own: Quotas, fallback: Quotas): Quotas {
  return {
    subscriptions: own.subscriptions ?? fallback.subscriptions,
    eventsPerSecond: own.eventsPerSecond ?? fallback.eventsPerSecond,
    payloadBytes: own.payloadBytes ?? fallback.payloadBytes,
  };
}
