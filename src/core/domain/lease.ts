// A lease as one number, holder and fencing token at once: the node's incarnation, then a counter.
// It distinguishes leases of a node that was declared gone from those of its next incarnation.

const leasesPerNode = 2 ** 32;

export function leaseOf(node: number, count: number): number {
  return node * leasesPerNode + count;
}

/** The node that holds the lease. */
export function holderOf(lease: number): number {
  return Math.floor(lease / leasesPerNode);
}
