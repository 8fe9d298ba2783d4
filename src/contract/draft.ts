// The operations of a document as they are written down, before anybody asks what they do.
import type { Operation } from './contract.ts';
import { compileContent } from './media.ts';
import { compileParameters } from './parameters.ts';
import { child, describe, entries, errorAt, nameOf, text, warn } from './place.ts';
import type { Place } from './place.ts';

export interface Draft extends Pick<Operation, 'operationId' | 'method' | 'parameters' | 'body'> {
  /** As in the document, without the path of the server. */
  path: string;
  place: Place;
}

/** As OpenAPI names them. TRACE cannot carry a body, and no proxy lets it through. */
const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'query'] as const;

export function draftOperations(root: Place): Draft[] {
  const drafts: Draft[] = [];
  for (const [path, item] of entries(child(root, 'paths'))) {
    if (!path.startsWith('/')) {
      if (!path.startsWith('x-'))
        warn(item, `is no path, expected "/" at its start; it is ignored`);
      continue;
    }
    for (const { method, place } of methodsOf(item)) {
      drafts.push(draft({ path, method, item, place }));
    }
  }
  const places = new Map<string, Draft>();
  for (const one of drafts) {
    const first = places.get(one.operationId);
    if (first !== undefined) {
      const reason = `${nameOf(first.place)} has it already, expected it to be unique`;
      throw errorAt(one.place, `use operationId "${one.operationId}"`, reason);
    }
    places.set(one.operationId, one);
  }
  return drafts;
}

/** The operations under a path or under the key of a callback. Methods in upper case. */
export function methodsOf(item: Place): { method: string; place: Place }[] {
  for (const key of ['trace', 'additionalOperations']) {
    const unused = child(item, key);
    if (unused !== undefined) warn(unused, 'cannot run: the method is not supported');
  }
  return methods.flatMap((method) => {
    const place = child(item, method);
    if (place === undefined) return [];
    const { value } = place;
    if (typeof value === 'object' && value !== null)
      return [{ method: method.toUpperCase(), place }];
    warn(place, `is ${describe(value)}, expected an operation; it is ignored`);
    return [];
  });
}

function draft({ path, method, item, place }: Written): Draft {
  const body = child(place, 'requestBody');
  return {
    operationId: text(place, 'operationId') ?? `${method} ${path}`,
    method,
    path,
    place,
    parameters: compileParameters({ item, operation: place }, path),
    body: body && {
      required: child(body, 'required')?.value === true,
      content: compileContent(child(body, 'content')),
      opaque: text(body, 'x-ringback-opaque'),
    },
  };
}

interface Written {
  path: string;
  method: string;
  item: Place;
  place: Place;
}
