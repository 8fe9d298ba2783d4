// Copies a document so that some operations need no key. The given document is never changed. The
// copy is also the one that is served, so that readers see it.
import { isObject } from '../document/document.ts';
import type { JsonObject } from '../document/document.ts';

export function openOperations(document: JsonObject, ids: readonly string[]): JsonObject {
  const { paths } = document;
  if (!isObject(paths)) return document;
  const opened = Object.entries(paths).map(([path, item]) => [
    path,
    isObject(item) ? opensIn(item, ids) : item,
  ]);
  return { ...document, paths: Object.fromEntries(opened) };
}

function opensIn(item: JsonObject, ids: readonly string[]): JsonObject {
  const entries = Object.entries(item).map(([key, operation]) => {
    const id = isObject(operation) ? operation['operationId'] : undefined;
    if (!isObject(operation) || typeof id !== 'string' || !ids.includes(id))
      return [key, operation];
    const { 'x-ringback-scope': _scope, ...rest } = operation;
    return [key, { ...rest, security: [] }];
  });
  return Object.fromEntries(entries);
}
