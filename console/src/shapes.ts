// What the service answers, as openapi.yaml describes it. Only types: page and service come from one
// process, so answers are not checked again here.
export type Scope = 'subscribe' | 'publish' | 'read' | 'admin' | 'operator';

export type Session = {
  readonly appId: string;
  readonly appName: string;
  readonly keyId: string;
  readonly keyName: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt: string;
};

/** A page of a list. It may be short, even empty, and still have a next one. */
export type Page<T> = { readonly items: readonly T[]; readonly nextCursor: string | null };

export type DeliveryState = 'due' | 'running' | 'delivered' | 'dead' | 'cancelled';

export type Delivery = {
  readonly id: string;
  readonly state: DeliveryState;
  readonly event: string;
  readonly eventId: string;
  readonly subscriberId: string;
  readonly callback: {
    readonly position: number;
    readonly label: string;
    readonly method: string;
    readonly url: string;
  };
  readonly attemptCount: number;
  readonly status?: number;
  readonly error?: string;
  readonly nextAttemptAt?: string;
  readonly createdAt: string;
  readonly endedAt?: string;
};

export type Attempt = {
  readonly id: string;
  readonly startedAt: string;
  readonly tookMs: number;
  readonly status?: number;
  readonly error?: string;
  readonly message?: string;
  readonly warning?: string;
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
  };
  readonly response?: {
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
    readonly isCut: boolean;
  };
};

export type DeliveryWithAttempts = Delivery & { readonly attempts: readonly Attempt[] };

export type PublishedEvent = {
  readonly id: string;
  readonly event: string;
  readonly deliveries: number | null;
  readonly createdAt: string;
  readonly rejected?: string;
};

export type Accepted = {
  readonly eventId: string;
  readonly deliveries: number | null;
  readonly warnings?: readonly FieldError[];
};

export type EventType = {
  readonly event: string;
  readonly callback: string;
  readonly contract: string;
  readonly mediaType?: string;
  readonly schema?: Readonly<Record<string, unknown>>;
  readonly example?: unknown;
};

export type Callback = {
  readonly position: number;
  readonly label: string;
  readonly event: string;
  readonly events: readonly string[];
  readonly method: string;
  readonly url?: string;
  readonly inactive?: string;
};

export type Subscription = {
  readonly id: string;
  readonly state: 'active' | 'paused' | 'disabled' | 'ended';
  readonly contract: string;
  readonly operation: string;
  readonly callbacks: readonly Callback[];
  readonly createdAt: string;
  readonly endedAt?: string;
  /** Not in lists. */
  readonly health?: Health;
};

export type Health = {
  readonly state: 'ok' | 'failing' | 'open';
  readonly failures: number;
  readonly failingSince?: string;
  readonly nextAttemptAt?: string;
};

export type Subscribed = { readonly subscriberId: string; readonly secret: string };

export type SecretPair = {
  readonly secret: string;
  readonly previous?: { readonly secret: string; readonly expiresAt: string };
};

export type Key = {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly state: 'active' | 'expired' | 'revoked';
  readonly createdAt: string;
  readonly expiresAt?: string;
  readonly revokedAt?: string;
  readonly lastUsedAt?: string;
  readonly oldValidUntil?: string;
};

/** The secret is shown this once. */
export type KeyOnce = Key & { readonly key: string };

export type Contract = {
  readonly title: string;
  readonly version?: string;
  readonly warnings: number;
  readonly operations: readonly {
    readonly operationId: string;
    readonly method: string;
    readonly path: string;
    readonly does: 'subscribe' | 'unsubscribe';
  }[];
};

export type ServiceNode = {
  readonly name: string;
  readonly role: 'api' | 'worker' | 'all';
  readonly version: string;
  readonly startedAt: string;
  readonly lastSeenAt: string;
  readonly self: boolean;
};

export type Counts = {
  readonly published: number;
  readonly delivered: number;
  readonly retried: number;
  readonly dead: number;
  readonly cancelled: number;
};

export type Percentiles = { readonly p50Ms: number | null; readonly p95Ms: number | null };

export type Step = Counts & Percentiles & { readonly at: string };

export type Totals = Counts & Percentiles & { readonly successRate: number | null };

export type Attention = {
  readonly kind: 'failing' | 'disabled';
  readonly subscriberId: string;
  readonly url: string;
  readonly since: string | null;
  readonly failures: number;
  readonly error?: string;
  readonly status?: number;
};

export type Stats = {
  readonly from: string;
  readonly until: string;
  readonly stepSeconds: number;
  readonly steps: readonly Step[];
  readonly totals: Totals;
  readonly pending: number;
  readonly pendingIsCapped: boolean;
  readonly oldestPendingAt: string | null;
  readonly attention: readonly Attention[];
};

export type SubscriptionStats = {
  readonly stepSeconds: number;
  readonly from: string;
  readonly until: string;
  readonly items: readonly {
    readonly subscriberId: string;
    readonly delivered: readonly number[];
    readonly failed: readonly number[];
    readonly totals: Totals;
    readonly pending: number;
    readonly pendingIsCapped: boolean;
  }[];
};

export type ReplayFilter = {
  readonly state?: 'dead' | 'delivered' | 'cancelled' | 'ended';
  readonly event?: string;
  readonly subscriberId?: string;
  readonly status?: string;
  readonly error?: string;
  readonly from?: string;
  readonly until?: string;
};

export type Replay = {
  readonly id: string;
  readonly state: 'running' | 'done' | 'cancelled';
  readonly filter: ReplayFilter;
  readonly ratePerSecond: number;
  readonly matched: number;
  readonly replayed: number;
  readonly skipped: number;
  readonly progress: number;
  readonly createdAt: string;
  readonly endedAt?: string;
};

/** One frame of GET /stream: what changed since the frame before. */
export type Frame = {
  readonly at: string;
  readonly counts: Counts;
  readonly pending: number;
  readonly deliveries: readonly Delivery[];
  readonly more: number;
  readonly subscriptions: readonly string[];
  readonly replays: readonly Replay[];
  /** Changes may have been missed: read the lists again. */
  readonly isReset: boolean;
};

export type FieldError = { readonly field: string; readonly message: string };

export type Problem = {
  readonly title: string;
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly requestId?: string;
  readonly errors?: readonly FieldError[];
};
