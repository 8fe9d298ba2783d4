// Generated from openapi.yaml by `npm run docs`: the types of the service itself and the contracts it executes.
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
  /** OpenAPI version of the document. */
  openapi: string;
  /** Operations with callbacks. */
  subscribes: readonly {
    operationId: string;
    method: string;
    path: string;
    /** Ways to send the key. */
    security: string;
    /** Scope that the key needs. */
    scope?: string;
    variants: readonly VariantReport[];
  }[];
  unsubscribes: readonly {
    operationId: string;
    method: string;
    path: string;
    security: string;
    scope?: string;
    /** Location of the subscriber id. */
    takes: string;
    status: number;
  }[];
  /** Number of other operations. */
  otherOperations?: number;
  /** Events that can be published and are matched by a callback. */
  events: readonly {
    /** Event name or pattern or template. */
    event: string;
    /** An event name that matches. */
    name: string;
    callbacks: readonly string[];
    /** A payload that all of these callbacks accept, or why there is none. */
    payload: Readonly<Record<string, unknown>>;
  }[];
  warnings: readonly {
    kind: 'repair' | 'warning';
    /** Set if it is another file. */
    file?: string;
    pointer: string;
    message: string;
  }[];
  cannotRun: readonly string[];
}

export interface VariantReport {
  /** Empty if there are no variants. */
  name: string;
  needs: readonly string[];
  /** At least one is required. */
  needsAny: readonly string[];
  status: number;
  callbacks: readonly {
    label: string;
    /** After repairs; absent if unreadable. */
    key?: string;
    method: string;
    event: string;
    does: string;
    matches: string;
    reads: readonly {
      expression: string;
      place: string;
    }[];
    repairs: readonly string[];
    unsubscribeStatus: number;
    /** Why it is never sent. */
    inactive?: string;
  }[];
  /** A request that registers these callbacks (`sample`), or why there is none. */
  example: {
    kind: 'sample' | 'none';
    method?: string;
    /** Path and query, as sent. */
    target?: string;
    headers?: Readonly<Record<string, string>>;
    body?: string;
    why?: string;
  };
}
