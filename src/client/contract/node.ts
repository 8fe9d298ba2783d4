// Generated from openapi.yaml by `npm run docs`: the types of nodes.

export interface ListNodesAnswer {
  items: readonly Node[];
}

export interface Node {
  name: NodeName;
  role: NodeRole;
  version: string;
  startedAt: string;
  lastSeenAt: string;
  /** True for the node that responds. */
  self: boolean;
}

export type NodeName = string;

/** What the node does - serve requests, deliver, or both. */
export type NodeRole = 'api' | 'worker' | 'all';
