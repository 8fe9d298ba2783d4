// What an operation says about its subscriptions: what they are about (`x-ringback-subject`), and how long they live
// (`x-ringback-expires`). The extensions are Ringback's own, so mistakes in them are errors, never guessed at.
import { isoDurationMs } from '../../core/base/parse-time.ts';
import { limits } from '../../core/limits/limits.ts';
import { child, errorAt } from '../document/ref-node.ts';
import { expressionsOf, parseTemplate, type Template } from '../expression/template.ts';
import type { DeclaredOperation } from '../model/declared-operations.ts';
import { checkVisible } from './check-expressions.ts';

export function compileSubject(draft: DeclaredOperation): Template | undefined {
  const place = child(draft.place, 'x-ringback-subject');
  if (place === undefined) return undefined;
  const parsed = typeof place.value === 'string' ? parseTemplate(place.value) : undefined;
  const expressions = parsed?.kind === 'parsed' ? expressionsOf(parsed.template) : [];
  if (parsed?.kind === 'parsed' && expressions.length > 0) {
    checkVisible(expressions, place, draft);
    return parsed.template;
  }
  const expected =
    'expected a runtime expression such as "$response.body#/id", or a text with expressions in braces';
  throw errorAt(place, 'read the subject', `it is ${JSON.stringify(place.value)}, ${expected}`);
}

export function compileExpires({ place: operation }: DeclaredOperation): number | undefined {
  const place = child(operation, 'x-ringback-expires');
  if (place === undefined) return undefined;
  const ms = typeof place.value === 'string' ? isoDurationMs(place.value) : undefined;
  if (ms !== undefined && ms > 0 && ms <= limits.expiresMaxMs) return ms;
  const expected = 'expected an ISO 8601 duration such as "P7D" or "PT12H", at most 10 years';
  throw errorAt(place, 'read the expiry', `it is ${JSON.stringify(place.value)}, ${expected}`);
}
