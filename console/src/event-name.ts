// What a name or a pattern of events looks like, as the service takes it. Pure.
const name = /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/u;

/** Why the service would refuse it; undefined if it would not. */
export function nameError(text: string | undefined): string | undefined {
  if (text === undefined || name.test(text)) return undefined;
  return 'Expected one name, like order.created.';
}

export function patternError(text: string | undefined): string | undefined {
  if (text === undefined || text === '*' || name.test(text.replace(/\.\*$/u, ''))) return undefined;
  return 'Expected a name like order.created, or a pattern like order.*';
}
