// Made from openapi.yaml by `npm run docs`: what the contract says of nodes.

export interface ListNodesAnswer {
  items: readonly Node[];
}

export interface Node {
  name: NodeName;
  role: NodeRole;
  version: string;
  startedAt: string;
  lastSeenAt: string;
  /** This is the node that answers. */
  self: boolean;
}

export type NodeName = string;

/** What the node does - serve requests, deliver, or both. */
export type NodeRole = 'api' | 'worker' | 'all';
