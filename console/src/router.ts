// The current location: path and query of the address bar, as a signal. List state lives in the
// query, so that reload, back and a copied link show the same. Links are plain <a>; clicks are
// handled here.
import { signal } from '@preact/signals';
import { withQuery, type Query } from './api.ts';
import { base, withoutBase } from './base.ts';

export type Route = { readonly path: string; readonly query: URLSearchParams };

export const route = signal<Route>(currentRoute());

/** One query parameter; undefined if it is absent or empty. */
export function param(name: string): string | undefined {
  const value = route.value.query.get(name);
  return value === null || value === '' ? undefined : value;
}

/** The current page with some parameters changed; undefined removes one. */
export function hrefWith(changes: Query): string {
  const all: Record<string, string | number | undefined> = {
    ...Object.fromEntries(route.value.query),
    ...changes,
  };
  return withQuery(route.value.path, all);
}

export function navigate(href: string, { replace = false }: { replace?: boolean } = {}): void {
  if (replace) history.replaceState(null, '', base + href);
  else history.pushState(null, '', base + href);
  updateRoute();
}

/** Navigates on the current page. `replace` while typing, a new history entry when chosen. */
export function setParams(changes: Query, options: { replace?: boolean } = {}): void {
  const href = hrefWith(changes);
  if (href !== withoutBase(location.pathname) + location.search) navigate(href, options);
}

export function startRouter(): void {
  addEventListener('popstate', updateRoute);
  document.addEventListener('click', (event) => {
    const href = hrefOf(event);
    if (href === undefined) return;
    event.preventDefault();
    navigate(href);
  });
}

function updateRoute(): void {
  const before = route.value.path;
  route.value = currentRoute();
  if (before !== route.value.path) scrollTo(0, 0);
}

function currentRoute(): Route {
  const path = withoutBase(location.pathname).replace(/\/+$/u, '');
  return { path: path === '' ? '/console' : path, query: new URLSearchParams(location.search) };
}

/** The target of a click that stays in this page; undefined leaves the click to the browser. */
function hrefOf(event: MouseEvent): string | undefined {
  if (event.defaultPrevented || event.button !== 0) return undefined;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return undefined;
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  if (link === null || link.target !== '' || link.hasAttribute('download')) return undefined;
  const path = withoutBase(link.pathname);
  if (link.origin !== location.origin || !/^\/console(?:\/|$)/u.test(path)) return undefined;
  const isSameRoute = link.pathname === location.pathname && link.search === location.search;
  if (link.hash !== '' && isSameRoute) return undefined;
  return path + link.search;
}
