// The first steps that a start prints: lines to paste that subscribe, publish and list, for the
// contracts of this service. They are built from validated examples, so that each works unchanged.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { quote, type ShellPart } from '../../api/docs/shell.ts';
import { servedOf } from '../../contract/compile/contracts.ts';
import { bounds } from '../../contract/document/bounds.ts';
import type { Contract, Operation, Scheme } from '../../contract/model/contract.ts';
import { reportEvents } from '../../contract/report/report.ts';
import { checkPayload } from '../../contract/request/payload.ts';
import {
  sampleRequest,
  type RequestSample,
  type SampledCallback,
} from '../../contract/sample/sample-request.ts';
import type { WorkBudget } from '../../contract/schema/step-budget.ts';
import { withPrefix } from '../../core/base/id.ts';
import { packageFolder } from '../../core/base/package.ts';
import type { Service } from '../../service.ts';

type Greeted = Pick<Service, 'url' | 'manageUrl' | 'firstKey' | 'defaultApp' | 'contracts'>;

export function firstSteps(service: Greeted): string[] {
  const { management, executed } = service.contracts;
  return executed[0] === management ? ownSteps(service) : foreignSteps(service);
}

/** A sentence for each contract with operations that need no key. */
export function openOperationWarnings({ executed }: Service['contracts']): string[] {
  return executed.flatMap((contract) => {
    const open = servedOf(contract).filter(({ security }) => isOpen(security));
    if (open.length === 0) return [];
    const names = open.map(({ method, path }) => `${method} ${path}`);
    const shown = names.slice(0, namesMax).join(', ');
    const rest = names.length > namesMax ? ` and ${names.length - namesMax} more` : '';
    return [
      `the document ${JSON.stringify(contract.title)} requires no key for ${shown}${rest}: ` +
        'anyone who can reach this address may call it, as the app "default"',
    ];
  });
}

const namesMax = 3;

function isOpen(security: Operation['security']): boolean {
  return security.length === 0 || security.some(({ schemes }) => schemes.length === 0);
}

function ownSteps({ manageUrl: url, firstKey }: Greeted): string[] {
  const key = firstKey ?? '$RINGBACK_API_KEY';
  return [
    'Receive callbacks in a second terminal:',
    `  ${ownCommand} listen --url ${url} --key "${key}"`,
    '',
    'Then subscribe a second URL, publish an event (delivered to both), and list the ' +
      'deliveries:',
    `  curl -X POST ${url}/subscribe ${auth(key)} ${json} -d '{"callbackUrl":"${receiver}second"}'`,
    `  curl -X POST ${url}/events ${auth(key)} ${json} -d '{"event":"order.created","payload":{"message":"Order 42"}}'`,
    `  curl ${url}/deliveries ${auth(key)}`,
    '',
  ];
}

const receiver = 'http://127.0.0.1:8081/';
const json = '-H "Content-Type: application/json"';

function auth(key: string): string {
  return `-H "X-API-Key: ${key}"`;
}

function foreignSteps(service: Greeted): string[] {
  const { manageUrl: url, firstKey, contracts } = service;
  const key = firstKey ?? '$RINGBACK_API_KEY';
  const listed = contracts.executed
    .filter((contract) => contract !== contracts.builtIn)
    .map(({ title }) => `  ${JSON.stringify(title)}`);
  const work: WorkBudget = { left: bounds.greetingStepsMax };
  const [example] = contracts.executed.flatMap((contract) => exampleOf(contract, work));
  const pasted =
    example === undefined
      ? []
      : [
          `  ${subscribeLine(service, example)}`,
          `  curl -X POST ${url}/events ${auth(key)} ${json} -d ${quote(example.event)}`,
        ];
  return [
    contracts.builtIn === undefined
      ? 'Executing the callbacks of'
      : 'Executing the callbacks and webhooks of',
    ...listed,
    '',
    example === undefined
      ? 'List deliveries:'
      : 'Subscribe a URL, publish an event, and list the deliveries:',
    ...pasted,
    `  curl ${url}/deliveries ${auth(key)}`,
    '',
  ];
}

interface Example {
  operation: Operation;
  request: Extract<RequestSample, { kind: 'sample' }>;
  /** The body of a publish call. */
  event: string;
}

/** The first operation that can be called, with an event that one of its callbacks matches. */
function exampleOf(contract: Contract, work: WorkBudget): Example[] {
  for (const operation of servedOf(contract)) {
    if (work.left <= 0) break;
    if (operation.role.kind !== 'subscribe') continue;
    const request = sampleRequest(operation, { callbackUrl: receiver }, work);
    // A shell line cannot contain the carriage returns of a multipart body.
    if (request.kind === 'none' || request.body?.includes('\r') === true) continue;
    const [event] = request.callbacks.flatMap((one) => eventFor(contract, one, work));
    if (event !== undefined) return [{ operation, request, event: JSON.stringify(event) }];
  }
  return [];
}

function eventFor(
  contract: Contract,
  { definition, event, inactive }: SampledCallback,
  work: WorkBudget,
): object[] {
  if (inactive !== undefined || event === undefined || work.left <= 0) return [];
  const [report] = reportEvents(contract, new Set([definition]), work);
  const name = event.replace(/\*$/u, 'example');
  if (report?.payload.kind !== 'sample') return [];
  const { value: payload } = report.payload;
  if (checkPayload(contract, name, payload).faults.length > 0) return [];
  return [{ event: name, payload, contract: contract.title }];
}

function subscribeLine(service: Greeted, { operation, request }: Example): string {
  const { method, target, headers, body } = request;
  const carried = credentials(operation, service);
  const mark = target.includes('?') ? '&' : '?';
  const query = carried.query.length === 0 ? [] : [mark, ...carried.query];
  return [
    `curl -X ${method} ${quote(service.url + target, ...query)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...carried.options,
    ...(body === undefined ? [] : [`--data-raw ${quote(body)}`]),
  ].join(' ');
}

/** Credentials for the first security alternative, as curl options. */
function credentials(
  { security }: Operation,
  service: Greeted,
): { options: string[]; query: ShellPart[] } {
  if (isOpen(security)) return { options: [], query: [] };
  const options: string[] = [];
  const query: ShellPart[] = [];
  for (const scheme of security[0]?.schemes ?? []) {
    const { carrier } = scheme;
    const secret = secretOf(scheme, service);
    if (carrier.in === 'header') options.push(`-H ${quote(`${carrier.name}: `, secret)}`);
    if (carrier.in === 'bearer') options.push(`-H ${quote('Authorization: Bearer ', secret)}`);
    if (carrier.in === 'basic') options.push(`-u ${quote('key:', secret)}`);
    if (carrier.in === 'cookie') options.push(`-b ${quote(`${carrier.name}=`, secret)}`);
    if (carrier.in === 'query') {
      query.push(`${query.length === 0 ? '' : '&'}${encodeURIComponent(carrier.name)}=`, secret);
    }
  }
  return { options, query };
}

function secretOf({ credential }: Scheme, { firstKey, defaultApp }: Greeted): ShellPart {
  if (credential === 'app_id') return withPrefix('app', defaultApp.id);
  return firstKey ?? { variable: 'RINGBACK_API_KEY' };
}

// How users call this program where it runs, so that lines to paste work unchanged.

/** In a checkout, npm provides the right Node. The package never contains the source. */
const ownCommand: string = existsSync(join(packageFolder, 'src'))
  ? 'npm run -s ringback --'
  : 'npx ringback';
