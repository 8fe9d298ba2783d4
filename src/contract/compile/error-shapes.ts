// The error responses that an operation declares: media type and schema, by status.
import { child, entries, type RefNode } from '../document/ref-node.ts';
import type { ErrorShape } from '../model/contract.ts';
import type { DeclaredOperation } from '../model/declared-operations.ts';
import { essenceOf, jsonContent } from '../model/media.ts';
import { makeValidator } from '../schema/schema.ts';
import { propertiesOf } from '../schema/shape.ts';
import { planFills } from './answer-fills.ts';

/** By `404`, `4XX` or `default`. */
export function compileErrors({ place }: DeclaredOperation): ReadonlyMap<string, ErrorShape> {
  const found = new Map<string, ErrorShape>();
  for (const [status, response] of entries(child(place, 'responses'))) {
    if (/^[123]/u.test(status) || status.startsWith('x-')) continue;
    const content = entries(child(response, 'content'));
    const problem = content.find(([type]) => essenceOf(type) === 'application/problem+json');
    const json = jsonContent(child(response, 'content'));
    const mediaType = problem === undefined ? json?.mediaType : essenceOf(problem[0]);
    const schema = problem === undefined ? json?.schema : child(problem[1], 'schema');
    const plan = planFills(schema, { requested: undefined, taken: [] });
    found.set(status === 'default' ? status : status.toUpperCase(), {
      mediaType,
      schema: schema && makeValidator(schema),
      pointers: pointersIn(schema),
      fills: plan.choices[0]?.fills ?? [],
    });
  }
  return found;
}

/** Properties, and those inside of them: `code`, or `error/code`. */
function pointersIn(schema: RefNode | undefined): string[][] {
  return [...propertiesOf(schema)].flatMap(([name, place]) => {
    const inside = [...propertiesOf(place).keys()];
    return inside.length === 0 ? [[name]] : inside.map((one) => [name, one]);
  });
}
