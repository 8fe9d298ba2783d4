// Facts about one batch, for metrics.

export interface BatchFacts {
  kind: 'edits' | 'work';
  /** Number of edits and settlements. */
  size: number;
  tookMs: number;
  /** False: the store failed, and nothing in the batch was acknowledged. */
  isDone: boolean;
}
