// One sentence for a problem that belongs to one field. Pure.
import type { ApiProblem } from '../api.ts';

/** The error of the field, or of the whole request. */
export function messageFor(problem: ApiProblem, field?: string): string {
  const named = field === undefined ? problem.errors[0]?.message : problem.of(field);
  if (named === undefined) return `${problem.title}. ${problem.detail}`;
  // Schema errors start with "must …" and need a subject; other errors are whole sentences.
  return /^(?:must|is) /u.test(named) ? `The value ${named}.` : named;
}
