// Made from openapi.yaml by `npm run docs`: what the contract says of the service itself and the contracts it executes.
import type { NodeName, NodeRole } from './node.ts';

export interface Status {
  status: 'ok';
}

export interface GetReadinessAnswer {
  status: 'ok';
  node: NodeName;
  role: NodeRole;
}

export interface ListContractsAnswer {
  items: readonly Contract[];
}

export interface Contract {
  title: string;
  version?: string;
  /**
   * Number of repairs, ignored parts and callbacks that cannot be executed. The report lists
   * them.
   */
  warnings: number;
  operations: readonly {
    operationId: string;
    method: string;
    path: string;
    does: 'subscribe' | 'unsubscribe';
  }[];
}

export interface ContractReport {
  title: string;
  version: string;
  /** The version of OpenAPI. */
  openapi: string;
  /** Operations with callbacks. */
  subscribes: readonly {
    operationId: string;
    method: string;
    path: string;
    /** How a key can be sent. */
    security: string;
    /** What the key must be allowed to do. */
    scope?: string;
    variants: readonly VariantReport[];
  }[];
  unsubscribes: readonly {
    operationId: string;
    method: string;
    path: string;
    security: string;
    scope?: string;
    /** Where the subscriber id stands. */
    takes: string;
    status: number;
  }[];
  /** Operations that are neither. */
  otherOperations?: number;
  /** Events that can be published and are matched by a callback. */
  events: readonly {
    /** A name or pattern or text with expressions. */
    event: string;
    /** A name that it hears. */
    name: string;
    callbacks: readonly string[];
    /** A payload that all of these callbacks accept, or why there is none. */
    payload: Readonly<Record<string, unknown>>;
  }[];
  warnings: readonly {
    kind: 'repair' | 'warning';
    /** Where it is not the contract itself. */
    file?: string;
    pointer: string;
    message: string;
  }[];
  cannotRun: readonly string[];
}

export interface VariantReport {
  /** Empty where the operation has no variants. */
  name: string;
  needs: readonly string[];
  /** At least one of these. */
  needsAny: readonly string[];
  status: number;
  callbacks: readonly {
    label: string;
    /** As repaired; absent where it cannot be read. */
    key?: string;
    method: string;
    event: string;
    does: string;
    hears: string;
    reads: readonly {
      expression: string;
      place: string;
    }[];
    repairs: readonly string[];
    unsubscribeStatus: number;
    /** Why it is never made. */
    inactive?: string;
  }[];
  /** A request that registers these callbacks (`sample`), or why there is none. */
  example: {
    kind: 'sample' | 'none';
    method?: string;
    /** Path and query, as they go over the wire. */
    target?: string;
    headers?: Readonly<Record<string, string>>;
    body?: string;
    why?: string;
  };
}
