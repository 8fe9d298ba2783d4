// Moves the focus between the rows of the lists of a page: to their links, marked `data-row`.

export function stepRow(by: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLAnchorElement>('table a[data-row]')];
  const at = links.findIndex((link) => link.closest('tr')?.contains(document.activeElement));
  const next = at === -1 ? 0 : Math.min(Math.max(at + by, 0), links.length - 1);
  const link = links[next];
  link?.focus();
  link?.closest('tr')?.scrollIntoView({ block: 'nearest' });
}
