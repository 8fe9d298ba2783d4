// A lease as one number, holder and fencing token at once: the node's incarnation, then a counter. What
// a node that was declared gone still holds is told apart from what its next incarnation holds.

const leasesPerNode = 2 ** 32;

export function leaseOf(node: number, count: number): number {
  return node * leasesPerNode + count;
}

/** The node that the lease was given to. */
export function holderOf(lease: number): number {
  return Math.floor(lease / leasesPerNode);
}
