// What a subscription is about, whose it is, and when it ends by itself, as its operation says.
import type { ExpressionInput } from '../../contract/expression/evaluate.ts';
import { expressionsOf, type Template } from '../../contract/expression/template.ts';
import type { Subscribe } from '../../contract/model/contract.ts';
import { fieldOf } from '../../contract/model/variants.ts';
import { customerFault, isCustomer, isSubject, subjectFault } from '../../core/domain/pattern.ts';
import { controlsProperty } from '../../contract/compile/compile.ts';
import { customerOf, type Actor } from '../../core/domain/app.ts';
import type { Choice } from '../../core/domain/read-controls.ts';
import { invalidRequest } from '../../core/errors/problem.ts';
import { limits } from '../../core/limits/limits.ts';
import { textsOf } from './additions.ts';

export type SubjectReading =
  | { kind: 'subject'; subject: string }
  /** `reason` follows "its subject …". */
  | { kind: 'unresolved'; reason: string };

export function readSubject(template: Template, exchange: ExpressionInput): SubjectReading {
  const found = textsOf(template, exchange);
  if (found.kind === 'unresolved') return found;
  const [subject = '', ...others] = found.texts;
  if (others.length > 0) return { kind: 'unresolved', reason: 'is a list, expected one value' };
  if (isSubject(subject)) return { kind: 'subject', subject };
  return { kind: 'unresolved', reason: subjectFault };
}

/** Throws if the operation says what its subscriptions are about, but the exchange does not. */
export function requiredSubject(
  { subject: template }: Pick<Subscribe, 'subject'>,
  exchange: ExpressionInput,
): string | undefined {
  if (template === undefined) return undefined;
  const reading = readSubject(template, exchange);
  if (reading.kind === 'subject') return reading.subject;
  const [first] = expressionsOf(template);
  const field = first === undefined ? 'body' : fieldOf(first);
  const message = `gives no subject for the subscription: ${reading.reason}`;
  throw invalidRequest([{ field, message }]);
}

/**
 * Whose the subscription is, as the operation, its settings and the key say; all that do must agree. Throws if the request
 * lacks what the operation reads: the subscription would receive the events of all customers.
 */
export function customerFor(
  { customer: template }: Pick<Subscribe, 'customer'>,
  { app, choice }: { app: Pick<Actor, 'customer'>; choice: Pick<Choice, 'customer'> },
  exchange: ExpressionInput,
): string | undefined {
  const named = choice.customer ?? undefined;
  const chosen = customerOf(app, named, `body#/${controlsProperty}/customer`);
  if (template === undefined) return chosen;
  const found = textsOf(template, exchange);
  const texts = found.kind === 'unresolved' ? [] : found.texts;
  const [customer = '', ...others] = texts;
  const isOther = chosen !== undefined && chosen !== customer;
  if (isCustomer(customer) && others.length === 0 && !isOther) return customer;
  const [first] = expressionsOf(template);
  const reason =
    found.kind === 'unresolved' ? found.reason : `${JSON.stringify(customer)} ${customerFault}`;
  const message = isOther
    ? `names the customer ${JSON.stringify(customer)}, expected ${JSON.stringify(chosen)}`
    : `gives no customer for the subscription: ${reason}`;
  throw invalidRequest([{ field: first === undefined ? 'body' : fieldOf(first), message }]);
}

/** Undefined: it never ends by itself. */
export function expiryFor(
  { expiresMs }: Pick<Subscribe, 'expiresMs'>,
  subject: string | undefined,
  nowMs: number,
): number | undefined {
  const keptMs = expiresMs ?? (subject === undefined ? undefined : limits.subjectKeepMs);
  return keptMs && nowMs + keptMs;
}
