// One sentence for a problem that belongs to one field. Pure.
import type { ApiProblem } from '../api.ts';

/** What the service says of the field, or else of the whole. */
export function messageFor(problem: ApiProblem, field?: string): string {
  const named = field === undefined ? problem.errors[0]?.message : problem.of(field);
  if (named === undefined) return `${problem.title}. ${problem.detail}`;
  // Rules say "must be …", and need their subject; guards say whole sentences.
  return /^(?:must|is) /u.test(named) ? `This ${named}.` : named;
}
