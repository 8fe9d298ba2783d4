// The API path of a key.
export function keyPath(id: string): string {
  return `/keys/${encodeURIComponent(id)}`;
}
