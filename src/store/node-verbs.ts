// The part of the Store port that keeps nodes apart: who is there, who has gone silent, and whose work
// is free again. A node is one incarnation of a process; its number is the upper half of its leases.

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
   * A new incarnation of a node. `aloneHere` (SQLite): every lease of an older one is freed at once.
   */
  startNode: {
    input: { name: string; role: NodeRole; version: string; aloneHere: boolean };
    output: { node: number; freed: number };
  };
  /** The node is there. One that was declared gone stays gone, and must start anew. */
  heartbeat: { input: { node: number }; output: { kind: 'alive' | 'gone' } };
  /** The node says goodbye: whatever it still held is free at the next rescue. */
  stopNode: { input: { node: number }; output: { kind: 'gone' } };
  /**
   * Declares nodes gone that were silent for `silentMs`, and frees all that is leased to any node that
   * is not alive: also what a node wrote after it was declared gone.
   */
  rescue: { input: { silentMs: number }; output: { gone: number; freed: number } };
}

export interface NodeReads {
  /** Nodes that are not gone, in the order they started. */
  nodes: { input: Record<string, never>; output: readonly Node[] };
}
