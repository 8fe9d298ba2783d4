// The path in front of the console, the portal and the API: empty, or the setting RINGBACK_MANAGE_PREFIX. The
// service puts it in front of the address of this script. Paths in the code are written without it.
import { options } from 'preact';

export const base = baseOf(import.meta.url);

export function baseOf(scriptUrl: string): string {
  const { pathname } = new URL(scriptUrl);
  return /^(.*)\/(?:console|portal)\/assets\//u.exec(pathname)?.[1] ?? '';
}

/** The path as the code writes it. */
export function withoutBase(path: string): string {
  return path.startsWith(`${base}/`) ? path.slice(base.length) : path;
}

/** Puts the base in front of every link, so that it also works in a new tab. */
export function prefixLinks(): void {
  const before = options.vnode?.bind(options);
  options.vnode = (vnode) => {
    const { type, props } = vnode;
    if (type === 'a' && 'href' in props && typeof props.href === 'string') {
      if (props.href.startsWith('/')) props.href = base + props.href;
    }
    before?.(vnode);
  };
}
