// What the service says of the fields of the settings, as sentences: each for the field it names. Pure.
import type { FieldError } from '../field-error.ts';

export type FieldRule = {
  /** Where the service finds it: `body#/retry`. */
  readonly at: string;
  /** What one item of a list is called. */
  readonly item?: string;
};

export function errorAt(errors: readonly FieldError[], rule: FieldRule): string | undefined {
  const sentences = errors
    .filter((error) => isAt(error, rule))
    .map((error) => sentence(error, rule));
  return sentences.length === 0 ? undefined : sentences.join(' ');
}

/** True of one that is shown at none of the fields. */
export function isNotAt(error: FieldError, rules: readonly FieldRule[]): boolean {
  return !rules.some((rule) => isAt(error, rule));
}

function isAt({ field }: FieldError, { at }: FieldRule): boolean {
  return field === at || field.startsWith(`${at}/`);
}

function sentence({ field, message }: FieldError, { at, item }: FieldRule): string {
  const inner = field.slice(at.length + 1);
  const subject =
    inner === '' ? 'This' : item === undefined ? named(inner) : `${item} ${Number(inner) + 1}`;
  return `${subject} ${message}.`;
}

/** The name of a member, as it was written. */
function named(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~');
}
