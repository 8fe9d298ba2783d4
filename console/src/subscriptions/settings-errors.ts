// Turns field errors of the service into sentences at the settings fields. Pure.
import type { FieldError } from '../field-error.ts';

export type FieldRule = {
  /** The field name in the error: `body#/retry`. */
  readonly at: string;
  /** What to call one item of a list. */
  readonly item?: string;
};

export function errorAt(errors: readonly FieldError[], rule: FieldRule): string | undefined {
  const sentences = errors
    .filter((error) => isAt(error, rule))
    .map((error) => sentence(error, rule));
  return sentences.length === 0 ? undefined : sentences.join(' ');
}

/** Whether the error belongs to none of the fields. */
export function isNotAt(error: FieldError, rules: readonly FieldRule[]): boolean {
  return !rules.some((rule) => isAt(error, rule));
}

function isAt({ field }: FieldError, { at }: FieldRule): boolean {
  return field === at || field.startsWith(`${at}/`);
}

function sentence({ field, message }: FieldError, { at, item }: FieldRule): string {
  const inner = field.slice(at.length + 1);
  const subject =
    inner === '' ? 'The value' : item === undefined ? named(inner) : `${item} ${Number(inner) + 1}`;
  return `${subject} ${message}.`;
}

/** Decodes one token of a JSON pointer. */
function named(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~');
}
