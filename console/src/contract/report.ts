// What GET /contracts/{title}/report answers. Only types.
export type ContractReport = {
  readonly title: string;
  readonly version: string;
  readonly openapi: string;
  readonly subscribes: readonly SubscribeReport[];
  readonly unsubscribes: readonly UnsubscribeReport[];
  readonly otherOperations: number;
  readonly events: readonly EventReport[];
  readonly warnings: readonly WarningReport[];
  readonly cannotRun: readonly string[];
};

type Operation = {
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  readonly security: string;
  readonly scope?: string;
};

export type SubscribeReport = Operation & { readonly variants: readonly VariantReport[] };

export type UnsubscribeReport = Operation & { readonly takes: string; readonly status: number };

export type VariantReport = {
  readonly name: string;
  readonly needs: readonly string[];
  readonly needsAny: readonly string[];
  readonly status: number;
  readonly callbacks: readonly CallbackReport[];
};

export type CallbackReport = {
  readonly label: string;
  readonly key?: string;
  readonly method: string;
  readonly event: string;
  readonly does: string;
  readonly hears: string;
  readonly reads: readonly { readonly expression: string; readonly place: string }[];
  readonly repairs: readonly string[];
  readonly unsubscribeStatus: number;
  readonly inactive?: string;
};

export type EventReport = {
  readonly event: string;
  readonly name: string;
  readonly callbacks: readonly string[];
  readonly payload:
    | { readonly kind: 'sample'; readonly value: unknown }
    | { readonly kind: 'none'; readonly why: string };
};

export type WarningReport = {
  readonly kind: 'repair' | 'warning';
  readonly file?: string;
  readonly pointer: string;
  readonly message: string;
};
