// Where a key is found at the service.
export function keyPath(id: string): string {
  return `/keys/${encodeURIComponent(id)}`;
}
