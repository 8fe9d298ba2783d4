// Translates path templates of a document into routes. Parameters are numbered, because their names
// in documents may hold any character.
import { decoded } from './raw-request.ts';

export interface Route {
  /** In the syntax of the server's router. */
  url: string;
  /** The router's parameters under their own names. */
  pathOf: (params: unknown) => ReadonlyMap<string, string>;
  matches: (path: string) => boolean;
  /** The decoded parameters of a path as a caller spelled it; undefined if it does not match. */
  read: (path: string) => ReadonlyMap<string, string> | undefined;
}

export function routeOf(path: string): Route {
  const names: string[] = [];
  let url = '';
  let pattern = '';
  for (const part of path.split(/(\{[^{}]+\})/u)) {
    if (part.startsWith('{') && part.endsWith('}')) {
      url += `:p${names.length}`;
      pattern += '([^/]+)';
      names.push(part.slice(1, -1));
    } else {
      url += part.replaceAll(':', '::');
      pattern += RegExp.escape(part);
    }
  }
  const shape = new RegExp(`^${pattern}$`, 'u');
  return {
    url: url === '' ? '/' : url,
    pathOf: (params) => {
      if (names.length === 0) return noParameters;
      const given = new Map(Object.entries(isRecord(params) ? params : {}));
      return new Map(names.map((name, index) => [name, String(given.get(`p${index}`) ?? '')]));
    },
    matches: (it) => shape.test(it),
    read: (it) => {
      const found = shape.exec(withPlainEscapes(it));
      if (found === null) return undefined;
      return new Map(names.map((name, index) => [name, textOf(found[index + 1] ?? '')]));
    },
  };
}

/** `%7E` and `~` are the same (RFC 3986, 6.2.2.2). */
function withPlainEscapes(path: string): string {
  return path.replaceAll(/%[2-7][\da-f]/giu, (escape) => {
    const char = String.fromCodePoint(Number.parseInt(escape.slice(1), 16));
    return /[\w.~-]/u.test(char) ? char : escape;
  });
}

function textOf(spelled: string): string {
  return decoded(spelled) ?? spelled;
}

const noParameters: ReadonlyMap<string, string> = new Map();

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
