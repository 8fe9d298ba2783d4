/**
 * Must match the predicate of the partial index `delivery_waiting` exactly, or the planner ignores
 * the index.
 */
export const waits = 'nullif(lease, 0) is null';
