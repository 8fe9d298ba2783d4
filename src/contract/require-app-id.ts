// RINGBACK_REQUIRE_APP_ID: a copy of a document in which every requirement also asks for the id of
// the app (RULINGS 29). Public operations stay public; the document that is given is never changed.
import { isList, isObject } from './document.ts';
import type { JsonObject } from './document.ts';
import { isAppIdScheme } from './security.ts';

export function requireAppId(document: JsonObject): JsonObject {
  const components = objectIn(document, 'components');
  const declared = objectIn(components, 'securitySchemes');
  const name = appIdName(declared);
  const scheme = declared[name] ?? { type: 'apiKey', in: 'header', name: 'X-APP-ID' };
  const securitySchemes = { ...declared, [name]: scheme };
  return {
    ...withAppId(document, name),
    components: { ...components, securitySchemes },
    ...(isObject(document['paths']) && {
      paths: mapValues(document['paths'], (item) =>
        mapValues(item, (operation, key) =>
          methods.has(key) && isObject(operation) ? withAppId(operation, name) : operation,
        ),
      ),
    }),
  };
}

const methods = new Set(
  ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'].concat('query'),
);

/** The document itself, or one operation: both have `security`. */
function withAppId(holder: JsonObject, name: string): JsonObject {
  const list = holder['security'];
  if (!isList(list)) return holder;
  const security = list.map((requirement) =>
    isObject(requirement) && Object.keys(requirement).length > 0
      ? { ...requirement, [name]: requirement[name] ?? [] }
      : requirement,
  );
  return { ...holder, security };
}

function appIdName(schemes: JsonObject): string {
  const [known] =
    Object.entries(schemes).find(([, one]) => isObject(one) && isAppIdScheme(one)) ?? [];
  if (known !== undefined) return known;
  let name = 'AppId';
  while (Object.hasOwn(schemes, name)) name += '_';
  return name;
}

function objectIn(holder: JsonObject, key: string): JsonObject {
  const value = holder[key];
  return isObject(value) ? value : {};
}

function mapValues(object: unknown, change: (value: unknown, key: string) => unknown): unknown {
  if (!isObject(object)) return object;
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => [key, change(value, key)]),
  );
}
