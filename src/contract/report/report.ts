// What a contract does, as a plain value for people and programs to read: which operations run and
// what they need, which events can be published, what was repaired, and what cannot run and why.
import { dirname, join } from 'node:path';
import { bounds } from '../document/bounds.ts';
import { isObject } from '../document/document.ts';
import { printExpression } from '../expression/expression.ts';
import { expressionsOf, printTemplate } from '../expression/template.ts';
import type {
  Addition,
  CallbackDefinition,
  Contract,
  Operation,
  Owner,
  Variant,
  Webhook,
} from '../model/contract.ts';
import { unfilled } from '../compile/answer-shape.ts';
import { definitionsOf, matchingCallbacks, openEvents } from '../request/payload.ts';
import { type RequestSample, sampleRequest } from '../sample/sample-request.ts';
import { anything, contractWork, outOfWork, sampleOf } from '../sample/sample.ts';
import { OutOfWork, type WorkBudget, spendWork } from '../schema/step-budget.ts';
import type { Validator } from '../schema/schema.ts';
import {
  answerFaults,
  errorFaults,
  sampledAnswers,
  undeclaredErrors,
  type SampledAnswer,
} from './answer-faults.ts';
import { neverRegistered } from './never-resolves.ts';
import { cannotRun } from './check-contracts.ts';
import {
  describeAccepted,
  describeCustomer,
  describeEnds,
  describeEvent,
  describeSecurity,
  describeSource,
  describeSubject,
  describeTarget,
  takenFrom,
} from './descriptions.ts';

export interface Report {
  file: string;
  title: string;
  /** Who answers the operations. */
  owner: Owner;
  /** `info.version`, and the version of OpenAPI. */
  version: string;
  openapi: string;
  /** Operations with callbacks. */
  subscribes: readonly SubscribeReport[];
  unsubscribes: readonly UnsubscribeReport[];
  /** Number of other operations; Ringback does not serve them. */
  otherOperations: number;
  events: readonly EventReport[];
  webhooks: readonly WebhookReport[];
  warnings: readonly WarningReport[];
  /** One sentence for each thing that cannot run. */
  cannotRun: readonly string[];
}

export interface SubscribeReport {
  operationId: string;
  method: string;
  path: string;
  security: string;
  /** The scope that the API key needs. */
  scope: string | undefined;
  /** Statuses of errors that it may return but does not declare: their body is problem+json. */
  undeclared: readonly number[];
  /** By which statuses an API accepts the request; undefined if Ringback answers it. */
  accepts: string | undefined;
  /** What its subscriptions are about, in words. */
  subject: string | undefined;
  /** Whose its subscriptions are, in words; undefined if only their settings say so. */
  customer: string | undefined;
  /** What ends them, besides their receivers. */
  ends: readonly string[];
  variants: readonly VariantReport[];
}

export interface VariantReport {
  /** '' where the operation has no variants. */
  name: string;
  needs: readonly string[];
  /** At least one of these. */
  needsAny: readonly string[];
  /** Undefined if an API answers. */
  status: number | undefined;
  callbacks: readonly CallbackReport[];
  /** A request that registers them. */
  example: ExampleRequest;
}

export type ExampleRequest =
  | {
      kind: 'sample';
      method: string;
      target: string;
      headers: Readonly<Record<string, string>>;
      body: string | undefined;
    }
  | { kind: 'none'; why: string };

export interface CallbackReport {
  label: string;
  /** As repaired: `{$request.body#/url}/data`; undefined where it cannot be read. */
  key: string | undefined;
  method: string;
  /** As in the document, expressions included. */
  event: string;
  /** In words: the request that it sends, and the events that it matches. */
  does: string;
  matches: string;
  /** The expressions of the key and the event, with the places that they read in words. */
  reads: readonly { expression: string; place: string }[];
  /** What the document adds to the request. */
  sends: readonly SentReport[];
  repairs: readonly string[];
  /** The receiver's status that ends the subscription. */
  unsubscribeStatus: number;
  /** Once it is delivered or dead, the subscription ends. */
  isFinal: boolean;
  /** Why it is never sent. */
  inactive: string | undefined;
}

export interface SentReport {
  in: 'query' | 'header' | 'cookie';
  name: string;
  /** Where the value comes from, as in the document. */
  value: string;
  isCredential: boolean;
}

export interface UnsubscribeReport {
  operationId: string;
  method: string;
  path: string;
  security: string;
  scope: string | undefined;
  /** Where it takes the subscriber id: `path parameter id`. */
  takes: string;
  /** Undefined if an API answers. */
  status: number | undefined;
  undeclared: readonly number[];
}

export interface WarningReport {
  kind: 'repair' | 'warning';
  file: string;
  /** `#/paths/~1x`. */
  pointer: string;
  message: string;
}

/** The callback URL in the examples. */
const callbackUrl = 'https://example.com/callback';

/** Once the work limit for examples is reached, the report says that none was found. */
export function makeReport(contract: Contract, file: string, work = contractWork()): Report {
  const { title, owner, document, operations } = contract;
  const { info } = document;
  // Requests get half of the work. Payloads get the other half, and whatever requests did not use.
  const requests = { left: work.left / 2 };
  const tried = operations.flatMap((operation) => tryVariants(operation, requests));
  const answers = [
    ...tried.flatMap(({ operation, variant: { name: variant }, sample }) =>
      sampledAnswers(operation, { sample, variant }),
    ),
    ...operations
      .filter(({ role }) => role.kind === 'unsubscribe')
      .flatMap((operation) =>
        sampledAnswers(operation, { sample: sampleRequest(operation, { callbackUrl }, requests) }),
      ),
  ];
  const payloads = { left: work.left / 2 + requests.left };
  const events = reportEvents(contract, activeIn(tried), payloads);
  const webhooks = contract.webhooks.map((webhook) => reportWebhook(webhook, payloads));
  work.left = payloads.left;
  const byOperation = Map.groupBy(tried, ({ operation }) => operation);
  const subscribes = [...byOperation].flatMap(([operation, all]) =>
    reportSubscribe(contract, operation, all),
  );
  return {
    file,
    title,
    owner,
    version: isObject(info) ? textOf(info['version']) : '',
    openapi: textOf(document['openapi'] ?? document['swagger']),
    subscribes,
    unsubscribes: operations.flatMap((operation) => reportUnsubscribe(contract, operation)),
    otherOperations: operations.filter(({ role }) => role.kind === 'managed').length,
    events,
    webhooks,
    warnings: [
      ...reportWarnings(contract, file),
      ...reportAnswers(contract, file, answers),
      ...reportErrors(contract, file),
    ],
    cannotRun: cannotRun(contract),
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** One variant of an operation, tried with the best example request that can be made. */
interface Tried {
  operation: Operation;
  variant: Variant;
  sample: RequestSample;
}

function tryVariants(operation: Operation, work: WorkBudget): Tried[] {
  const variants = operation.role.kind === 'subscribe' ? operation.role.variants : [];
  return variants.map((variant) => ({
    operation,
    variant,
    sample: sampleRequest(operation, { callbackUrl, variant: variant.name }, work),
  }));
}

function activeIn(all: readonly Tried[]): ReadonlySet<CallbackDefinition> {
  const active = all.flatMap((tried) =>
    tried.variant.callbacks.filter((one) => neverRegistered(one, tried) === undefined),
  );
  return new Set(active);
}

function reportSubscribe(
  contract: Contract,
  operation: Operation,
  all: readonly Tried[],
): SubscribeReport[] {
  const { role } = operation;
  if (role.kind !== 'subscribe') return [];
  return [
    {
      ...calledBy(contract, operation),
      accepts: contract.owner === 'api' ? describeAccepted(role) : undefined,
      subject: describeSubject(role),
      customer: describeCustomer(role),
      ends: describeEnds(operation, contract),
      variants: all.map(reportVariant),
    },
  ];
}

type Called = 'operationId' | 'method' | 'path' | 'security' | 'scope' | 'undeclared';

function calledBy(contract: Contract, operation: Operation): Pick<SubscribeReport, Called> {
  const { operationId, method, path, security, scope } = operation;
  const undeclared = undeclaredErrors(contract, operation);
  const words = contract.owner === 'api' ? 'decided by the API' : describeSecurity(security);
  return { operationId, method, path, security: words, scope, undeclared };
}

function reportVariant(tried: Tried): VariantReport {
  const { name, needs, needsAny, callbacks, answer } = tried.variant;
  return {
    name,
    needs: needs.map(describeSource),
    needsAny: needsAny.map(describeSource),
    status: answer?.status,
    callbacks: callbacks.map((definition) => reportCallback(definition, tried)),
    example: exampleOf(tried.sample),
  };
}

function exampleOf(sample: RequestSample): ExampleRequest {
  if (sample.kind === 'none') return sample;
  const { kind, method, target, headers, body } = sample;
  return { kind, method, target, headers, body };
}

export function reportCallback(
  definition: CallbackDefinition,
  holder: Pick<Tried, 'operation' | 'variant'>,
): CallbackReport {
  const { label, target, method, event, additions, repairs } = definition;
  const { unsubscribeStatus, isFinal } = definition;
  const expressions = [...expressionsOf(target ?? []), ...expressionsOf(event)];
  return {
    label,
    key: target && printTemplate(target),
    method,
    event: printTemplate(event),
    does: target === undefined ? method : describeTarget(definition),
    matches: describeEvent(event),
    reads: expressions.map((one) => ({
      expression: printExpression(one),
      place: describeSource(one),
    })),
    sends: additions.map(reportAddition),
    repairs,
    unsubscribeStatus,
    isFinal,
    inactive: neverRegistered(definition, holder),
  };
}

/** The report is public: a credential that stands in the document is not repeated. */
function reportAddition({ in: place, name, value, isCredential }: Addition): SentReport {
  const isHidden = isCredential && expressionsOf(value).length === 0;
  return { in: place, name, value: isHidden ? '(fixed)' : printTemplate(value), isCredential };
}

function reportUnsubscribe(contract: Contract, operation: Operation): UnsubscribeReport[] {
  const { role } = operation;
  if (role.kind !== 'unsubscribe') return [];
  const takes = takenFrom(role);
  return [{ ...calledBy(contract, operation), takes, status: role.answer?.status }];
}

function reportErrors(contract: Contract, file: string): WarningReport[] {
  return errorFaults(contract).map(({ place, message }) => {
    return { ...placed(place, file), kind: 'warning', message };
  });
}

function reportWarnings({ warnings, operations }: Contract, file: string): WarningReport[] {
  const repairs = new Set(
    operations.flatMap(({ role }) => {
      const variants = role.kind === 'subscribe' ? role.variants : [];
      return variants.flatMap(({ callbacks }) => callbacks.flatMap((one) => one.repairs));
    }),
  );
  return warnings.map(({ pointer, message }) => ({
    kind: repairs.has(message) ? 'repair' : 'warning',
    ...placed(pointer, file),
    message,
  }));
}

function placed(pointer: string, file: string): Pick<WarningReport, 'file' | 'pointer'> {
  const hash = pointer.indexOf('#');
  const other = pointer.slice(0, hash);
  return {
    file: other === '' ? file : join(dirname(file), other),
    pointer: pointer.slice(hash),
  };
}

/** What the responses to the example requests violate, apart from what was reported at load. */
function reportAnswers(
  { warnings }: Contract,
  file: string,
  answers: readonly SampledAnswer[],
): WarningReport[] {
  const known = warnings.filter(({ message }) => message === unfilled);
  const said = new Set<string>();
  return answers.flatMap((answer) => {
    const { method, path } = answer.operation;
    return answerFaults(answer, contractWork())
      .filter(({ field }) => !known.some(({ pointer }) => pointer.endsWith(field)))
      .flatMap(({ place, field, message }) => {
        const fault = `the schema: ${field} ${message}`;
        if (said.has(`${method} ${path} ${fault}`)) return [];
        said.add(`${method} ${path} ${fault}`);
        return [
          {
            ...placed(place, file),
            kind: 'warning' as const,
            message: `the response of ${method} ${path}${answer.to} does not match ${fault}`,
          },
        ];
      });
  });
}

// The events that can be published for a contract, each with a payload that is valid for every callback that could
// receive it.

export interface EventReport {
  /** A name, a pattern such as `*` or `order.*`, or a text with expressions. */
  event: string;
  /** An event name that it matches. */
  name: string;
  /** Labels of the callbacks that match it. */
  callbacks: readonly string[];
  payload: { kind: 'sample'; value: unknown } | { kind: 'none'; why: string };
}

/** An event that the API of the document publishes. */
export interface WebhookReport extends Pick<EventReport, 'event' | 'payload'> {
  description: string | undefined;
  state: 'active' | 'deprecated';
}

export function reportWebhook(
  { event, description, isDeprecated, payload }: Webhook,
  work: WorkBudget,
): WebhookReport {
  const state = isDeprecated ? 'deprecated' : 'active';
  return { event, description, state, payload: sampleOf(payload ?? anything, work) };
}

/** The events that an active callback can match. */
export function reportEvents(
  contract: Contract,
  active: ReadonlySet<CallbackDefinition>,
  work: WorkBudget = contractWork(),
): EventReport[] {
  const listed = definitionsOf(contract).filter((definition) => active.has(definition));
  const byEvent = Map.groupBy(listed, ({ event }) => printTemplate(event));
  return [...byEvent].map(([event, definitions]) => {
    const name = nameFor(event);
    return {
      event,
      name,
      callbacks: [...new Set(definitions.map(({ label }) => label))],
      payload: payloadFor(contract, { name, definitions, work }),
    };
  });
}

/** An event name that the pattern matches. */
function nameFor(event: string): string {
  if (event.includes('{')) return 'example';
  return event.replace(/\*$/u, 'example');
}

interface EventGroup {
  name: string;
  definitions: readonly CallbackDefinition[];
  work: WorkBudget;
}

/** Several callbacks may match the event, and the payload must be valid for all of them. */
function payloadFor(
  contract: Contract,
  { name, definitions, work }: EventGroup,
): EventReport['payload'] {
  try {
    spendWork(work, (openEvents(contract) + definitions.length) * bounds.sampleStepsEach);
    const checks = new Map<string, { label: string; schema: Validator }>();
    for (const { label, payload } of [...definitions, ...matchingCallbacks(contract, name)]) {
      if (payload === undefined || checks.has(payload.place)) continue;
      checks.set(payload.place, { label, schema: payload });
    }
    if (checks.size === 0) return { kind: 'sample', value: { message: 'Any value is accepted' } };
    let why = '';
    for (const [place, { schema }] of checks) {
      const sample = sampleOf(schema, work);
      if (sample.kind === 'none') return { kind: 'none', why: `${place}: ${sample.why}` };
      const refusal = refusalOf(checks.values(), sample.value, work);
      if (refusal === undefined) return sample;
      why = refusal;
    }
    return { kind: 'none', why };
  } catch (error) {
    if (error instanceof OutOfWork) return { kind: 'none', why: outOfWork };
    throw error;
  }
}

function refusalOf(
  checks: Iterable<{ label: string; schema: Validator }>,
  payload: unknown,
  work: WorkBudget,
): string | undefined {
  for (const { label, schema } of checks) {
    const [fault] = schema.check(payload, work);
    if (fault !== undefined) {
      return `callback ${label} requires a different payload: ${fault.field} ${fault.message}`;
    }
  }
  return undefined;
}
