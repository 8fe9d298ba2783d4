// Chooses the variant of a subscribe request: the needs of exactly one variant must be met, without
// fields of another. A request that matches none or several gets a message with the fields that
// were found and missing.
import type { Fault } from '../../core/errors/problem.ts';
import { resolve, type Message } from '../expression/evaluate.ts';
import { printExpression, type Expression } from '../expression/expression.ts';
import { orList } from '../schema/explain.ts';
import type { Operation, Variant } from './contract.ts';

export type Choice =
  | { kind: 'chosen'; variant: Variant }
  /** `detail` is a sentence about the whole request. */
  | { kind: 'none' | 'several'; detail: string; faults: Fault[] };

export function chooseVariant(
  { method, path }: Pick<Operation, 'method' | 'path'>,
  variants: readonly Variant[],
  request: Message,
): Choice {
  const found = new Set(
    variants
      .flatMap(wants)
      .filter((field) => isPresent(field.expression, request))
      .map(nameOf),
  );
  const fitting = variants.filter((one) => ownsAll(one, found));
  const complete = fitting.filter((one) => missing(one, found) === undefined);
  const [variant, ...others] = complete;
  if (variant !== undefined && others.length === 0) return { kind: 'chosen', variant };
  if (complete.length > 1 || fitting.length === 0) {
    return severalFit(`${method} ${path}`, { variants, found });
  }
  return noneFits(`${method} ${path}`, { variants: fitting, found });
}

/** The name of an expression in faults: `query.event`, `body#/callbackUrl`. */
export function fieldOf(expression: Expression): string {
  return printExpression(expression).replace(/^\$(?:request\.)?/u, '');
}

interface Wanted {
  expression: Expression;
  field: string;
}

interface Found {
  variants: readonly Variant[];
  /** Fields of the request that some variant needs. */
  found: ReadonlySet<string>;
}

function wants({ needs, needsAny }: Pick<Variant, 'needs' | 'needsAny'>): Wanted[] {
  return [...needs, ...needsAny].map((expression) => ({ expression, field: fieldOf(expression) }));
}

function nameOf({ field }: Wanted): string {
  return field;
}

/** Null counts as present: the schema then reports what was expected. */
function isPresent(expression: Expression, request: Message): boolean {
  return resolve(expression, { url: '', method: '', request }).kind === 'found';
}

function ownsAll(variant: Variant, found: ReadonlySet<string>): boolean {
  const owned = new Set(wants(variant).map(nameOf));
  return [...found].every((field) => owned.has(field));
}

/** What the variant still lacks, in words and as fields; undefined when it is complete. */
function missing(
  variant: Variant,
  found: ReadonlySet<string>,
): { text: string; fields: string[] } | undefined {
  const needs = variant.needs.map(fieldOf).filter((field) => !found.has(field));
  const any = variant.needsAny.map(fieldOf);
  const lacksAny = any.length > 0 && !any.some((field) => found.has(field));
  if (needs.length === 0 && !lacksAny) return undefined;
  const words = [...needs, ...(lacksAny ? [orList(any)] : [])];
  return { text: words.join(' and '), fields: [...needs, ...(lacksAny ? any : [])] };
}

function noneFits(operation: string, { variants, found }: Found): Choice {
  const also = found.size > 0 ? 'also ' : '';
  const lacking = variants.flatMap((variant) => {
    const lack = missing(variant, found);
    return lack === undefined ? [] : [{ name: variant.name, ...lack }];
  });
  const needs = lacking.map(({ name, text }) => `variant "${name}" ${also}requires ${text}`);
  const things = found.size > 0 ? [...found].join(', ') : 'nothing that a variant requires';
  return {
    kind: 'none',
    detail: `${operation} matches no variant: found ${things}; ${needs.join('; ')}`,
    faults: lacking.flatMap(({ name, fields }) =>
      fields.map((field) => ({ field, message: `is required for variant "${name}"` })),
    ),
  };
}

function severalFit(operation: string, { variants, found }: Found): Choice {
  const owners = [...found].map((field) => {
    const owning = variants.filter((one) => wants(one).some((wanted) => wanted.field === field));
    return { field, names: orList(owning.map(({ name }) => `"${name}"`)) };
  });
  const things = owners.map(({ field, names }) => `${field} (variant ${names})`);
  return {
    kind: 'several',
    detail:
      `${operation} matches several variants: found ${things.join(', ')}; expected one ` +
      'variant',
    faults: owners.map(({ field, names }) => ({
      field,
      message: `belongs to variant ${names}, expected fields of one variant only`,
    })),
  };
}
