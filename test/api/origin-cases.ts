// All combinations of the headers with which a browser describes a request that carries a cookie, and
// a short model of the rule for them (docs/openapi-semantics.md rule 26).

/** The public URL of the service in these cases. */
export const publicUrl = 'https://hooks.example';

export const carriers = ['cookie', 'header'] as const;
export const methods = ['POST', 'PUT', 'PATCH', 'DELETE', 'GET'] as const;
export const sites = [undefined, 'none', 'same-origin', 'same-site', 'cross-site'] as const;
export const origins = [undefined, publicUrl, 'https://evil.example', 'null'] as const;
/** `none`: no body at all; `missing`: a body without a Content-Type. */
export const types = {
  none: undefined,
  missing: undefined,
  json: 'application/json',
  text: 'text/plain',
  form: 'application/x-www-form-urlencoded',
  multipart: 'multipart/form-data; boundary=x',
  tab: 'application/json\ta',
} as const;
export const typeNames = Object.keys(types) as (keyof typeof types)[];

export interface Case {
  carrier: (typeof carriers)[number];
  method: (typeof methods)[number];
  site: (typeof sites)[number];
  origin: (typeof origins)[number];
  type: keyof typeof types;
}

export const cases: Case[] = carriers.flatMap((carrier) =>
  methods.flatMap((method) =>
    sites.flatMap((site) =>
      origins.flatMap((origin) =>
        typeNames.map((type) => ({ carrier, method, site, origin, type })),
      ),
    ),
  ),
);

/** The model: docs/openapi-semantics.md rule 26. */
export function isRefused({ carrier, method, site, origin, type }: Case): boolean {
  if (carrier !== 'cookie' || method === 'GET') return false;
  if (type !== 'none' && type !== 'json') return true;
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  return origin !== undefined && origin !== publicUrl;
}
