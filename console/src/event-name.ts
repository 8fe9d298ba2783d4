// The syntax of event names and patterns, as the service accepts it. Pure.
const name = /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/u;

/** Why the service would refuse the name; undefined if it would not. */
export function nameError(text: string | undefined): string | undefined {
  if (text === undefined || name.test(text)) return undefined;
  return 'Expected an event name such as order.created.';
}

export function patternError(text: string | undefined): string | undefined {
  if (text === undefined || text === '*' || name.test(text.replace(/\.\*$/u, ''))) return undefined;
  return 'Expected an event name such as order.created, or a pattern such as order.*';
}
