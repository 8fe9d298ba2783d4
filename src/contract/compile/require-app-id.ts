// RINGBACK_REQUIRE_APP_ID: copies a document so that every requirement also needs the app id.
// Public operations stay public, and a console session already belongs to one app. The given
// document is never changed.
import { isList, isObject } from '../document/document.ts';
import type { JsonObject } from '../document/document.ts';
import { isAppIdScheme, isSessionScheme } from '../model/security.ts';

export function requireAppId(document: JsonObject): JsonObject {
  const components = objectIn(document, 'components');
  const declared = objectIn(components, 'securitySchemes');
  const name = appIdName(declared);
  const scheme = declared[name] ?? { type: 'apiKey', in: 'header', name: 'X-APP-ID' };
  const securitySchemes = { ...declared, [name]: scheme };
  const sessions = new Set(
    Object.keys(declared).filter((key) => isSessionScheme(objectIn(declared, key))),
  );
  const withAppId = (holder: JsonObject): JsonObject => rewritten(holder, { name, sessions });
  return {
    ...withAppId(document),
    components: { ...components, securitySchemes },
    ...(isObject(document['paths']) && {
      paths: mapValues(document['paths'], (item) =>
        mapValues(item, (operation, key) =>
          methods.has(key) && isObject(operation) ? withAppId(operation) : operation,
        ),
      ),
    }),
  };
}

const methods = new Set(
  ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'].concat('query'),
);

/** The document itself, or one operation: both have `security`. */
function rewritten(
  holder: JsonObject,
  { name, sessions }: { name: string; sessions: ReadonlySet<string> },
): JsonObject {
  const list = holder['security'];
  if (!isList(list)) return holder;
  const security = list.map((requirement) => {
    if (!isObject(requirement)) return requirement;
    const names = Object.keys(requirement);
    const isBound = names.some((one) => sessions.has(one));
    if (names.length === 0 || isBound) return requirement;
    return { ...requirement, [name]: requirement[name] ?? [] };
  });
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
