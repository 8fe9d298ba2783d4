// What is told of a batch, for whoever counts them.

export interface BatchFacts {
  kind: 'edits' | 'work';
  /** Edits and settlements. */
  size: number;
  tookMs: number;
  /** False: the store failed, and nothing of it was promised. */
  isDone: boolean;
}
