// The part of the Store port for cluster membership: which nodes are alive, which have gone silent,
// and which leases are released. A node is one incarnation of a process; its number is the upper
// half of its leases.

export type NodeRole = 'api' | 'worker' | 'all';

export interface Node {
  no: number;
  name: string;
  role: NodeRole;
  version: string;
  startedMs: number;
  seenMs: number;
}

export interface NodeEdits {
  /**
   * Registers a new incarnation of a node. `aloneHere` (SQLite): releases every lease of an older
   * one at once.
   */
  startNode: {
    input: { name: string; role: NodeRole; version: string; aloneHere: boolean };
    output: { node: number; freed: number };
  };
  /** Renews the heartbeat. A node that was declared gone stays gone, and must register again. */
  heartbeat: { input: { node: number }; output: { kind: 'alive' | 'gone' } };
  /** A clean shutdown: its remaining leases are released by the next rescue. */
  stopNode: { input: { node: number }; output: { kind: 'gone' } };
  /**
   * Declares nodes gone that were silent for `silentMs`, and releases everything leased to nodes
   * that are not alive, including leases that a node wrote after it was declared gone.
   */
  rescue: { input: { silentMs: number }; output: { gone: number; freed: number } };
}

export interface NodeReads {
  /** Nodes that are not gone, in the order they started. */
  nodes: { input: Record<string, never>; output: readonly Node[] };
}
