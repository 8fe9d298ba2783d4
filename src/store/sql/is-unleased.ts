// The condition for pending deliveries that no node has leased.

/**
 * Must match the predicate of the partial index `delivery_waiting` exactly, or the planner ignores
 * the index.
 */
export const isUnleasedSql = 'nullif(lease, 0) is null';
