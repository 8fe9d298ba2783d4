// The current view: path and query in the hash of the address, so that reload and back also work in a frame. Links are
// plain <a href="#/…">, which the browser follows.
import { signal } from '@preact/signals';
import { withQuery, type Query } from '../src/api.ts';

export type Route = {
  /** `endpoints`, `endpoints/new`, `endpoints/sub_…` */
  readonly path: string;
  readonly query: URLSearchParams;
};

export const route = signal<Route>(currentRoute());

export function startRouter(): void {
  addEventListener('hashchange', updateRoute);
}

/** `#/deliveries?state=dead` */
export function href(path: string, query: Query = {}): string {
  return `#/${withQuery(path, query)}`;
}

export function go(path: string, query: Query = {}): void {
  location.hash = href(path, query);
}

/** One query parameter; undefined if it is absent or empty. */
export function param(name: string): string | undefined {
  const value = route.value.query.get(name);
  return value === null || value === '' ? undefined : value;
}

/** Filters change often, so they replace the history entry. */
export function setParams(changes: Query): void {
  const { path, query } = route.peek();
  history.replaceState(null, '', href(path, { ...Object.fromEntries(query), ...changes }));
  updateRoute();
}

function updateRoute(): void {
  route.value = currentRoute();
}

function currentRoute(): Route {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/u, '').split('?', 2);
  return { path: path === '' ? 'endpoints' : path, query: new URLSearchParams(query) };
}
