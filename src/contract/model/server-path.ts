// The path that a document's servers put in front of an operation. Only the path counts: Ringback is
// reached at its own host.
import { at, child, items, rootOf, text, warn, type RefNode } from '../document/ref-node.ts';

/** Without a trailing slash. `servers` of the operation, else of its path, else of the document. */
export function serverPath(operation: RefNode, item: RefNode): string {
  for (const holder of [operation, item, rootOf(operation)]) {
    const list = child(holder, 'servers');
    const [server] = items(list);
    if (server !== undefined) return pathOf(server);
  }
  return '';
}

/** A relative URL is one on the host of Ringback, whose folder is the root. */
function pathOf(server: RefNode): string {
  const url = (text(server, 'url') ?? '').replaceAll(/\{([^{}]+)\}/gu, (_whole, name: string) => {
    const value = at(server, 'variables', name, 'default')?.value;
    return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  });
  const parsed = URL.parse(url, 'http://localhost/');
  if (parsed !== null && /^(?:https?|wss?):$/u.test(parsed.protocol)) {
    return parsed.pathname.replace(/\/+$/u, '');
  }
  const expected = 'expected an http or https URL, or a path';
  warn(server, `the URL is "${url}", ${expected}; the paths are served under "/"`);
  return '';
}
