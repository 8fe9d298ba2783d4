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
  const given = text(server, 'url') ?? '';
  const url = withVariables(server, given)
    .replace(`${empty}:`, 'http:')
    .replace(hostWithEmpty, '$1//localhost');
  const parsed = URL.parse(url, 'http://localhost/');
  if (parsed !== null && /^https?:$/u.test(parsed.protocol)) {
    return parsed.pathname.replaceAll(empty, '').replaceAll(/\/+/gu, '/').replace(/\/$/u, '');
  }
  const expected = 'expected an http or https URL, or a path';
  warn(server, `the URL is "${given}", ${expected}; the paths are served under "/"`);
  return '';
}

/**
 * Stands for an empty value while the URL is parsed, because the parser reads `//v1` as a host, and
 * the first segment behind `https:///` too.
 */
const empty = 'ringback--empty';
const hostWithEmpty = new RegExp(`^([^/?#:]*:)?//[^/?#]*${empty}[^/?#]*`, 'u');

function withVariables(server: RefNode, url: string): string {
  return url.replaceAll(/\{([^{}]+)\}/gu, (_whole, name: string) => {
    const value = at(server, 'variables', name, 'default')?.value;
    if (typeof value === 'string' || typeof value === 'number') return String(value) || empty;
    warn(
      server,
      `the variable "${name}" has no default, which OpenAPI requires; it counts as empty`,
    );
    return empty;
  });
}
