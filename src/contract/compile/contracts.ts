// The contracts of a service: Ringback's own document, which describes the management API, and
// those whose callbacks are executed. Foreign contracts replace the subscriber operations of
// Ringback's own.
import { compileContract } from './compile.ts';
import { ContractError, isObject } from '../document/document.ts';
import type { JsonObject } from '../document/document.ts';
import type { Contract, Operation } from '../model/contract.ts';
import { loadContract } from './load.ts';
import type { LoadOptions } from './load.ts';

export interface Contracts {
  /** In front of the paths of `management`: empty, or `/manage`. */
  prefix: string;
  /** Its operations have handlers in the program. */
  management: Contract;
  /** The contracts for subscribers and publishers: at least one. */
  executed: readonly Contract[];
  /**
   * Ringback's own contract, if it is among them: apps can declare its events, and those of webhooks are its events,
   * too.
   */
  builtIn: Contract | undefined;
  /** All contracts that subscriptions may have come from. */
  known: readonly Contract[];
}

export interface ContractFiles extends LoadOptions {
  own: string;
  foreign: readonly string[];
  /** Whether the probes are served without the prefix, too; true by default. */
  hasOwnProbes?: boolean;
}

/** A foreign file, and what became of it. */
export interface LoadedFile {
  file: string;
  result: { kind: 'contract'; contract: Contract } | { kind: 'refused'; error: ContractError };
}

/** The contracts that can be served together, and for each of the others the reason. */
export async function loadContracts({
  own,
  foreign,
  hasOwnProbes = true,
  ...options
}: ContractFiles): Promise<Contracts & { loaded: readonly LoadedFile[] }> {
  const { prefix = '' } = options;
  const loadedOwn = await loadContract(own, { ...options, owner: 'ringback', overlays: [] });
  const ours = hasOwnProbes ? withProbes(loadedOwn, prefix) : loadedOwn;
  if (foreign.length === 0) {
    return { prefix, management: ours, executed: [ours], builtIn: ours, known: [ours], loaded: [] };
  }
  const management = withoutSubscribing(ours);
  const executed: Contract[] = [];
  const loaded: LoadedFile[] = [];
  for (const file of foreign) {
    const result = await loadBeside(file, [management, ...executed], options);
    if (result.kind === 'contract') executed.push(result.contract);
    loaded.push({ file, result });
  }
  const known = [...executed, ours];
  const isPublishing = executed.some(({ webhooks }) => webhooks.length > 0);
  const taken = isPublishing ? takenFrom(ours, executed) : undefined;
  if (taken !== undefined) warnOfNoSubscribers(executed, taken);
  if (!isPublishing || taken !== undefined) {
    return { prefix, management, executed, builtIn: undefined, known, loaded };
  }
  return { prefix, management: ours, executed: known, builtIn: ours, known, loaded };
}

/** A route of Ringback's own subscribers that a foreign operation has. */
function takenFrom(ours: Contract, foreign: readonly Contract[]): Operation | undefined {
  const own = executedOf(ours);
  return foreign
    .flatMap((contract) => servedOf(contract))
    .find((one) => own.some((operation) => isSameRoute(operation, one)));
}

function warnOfNoSubscribers(executed: readonly Contract[], { method, path }: Operation): void {
  const message =
    `webhooks have no subscribers: ${method} ${path} is an operation of a document, not of ` +
    `Ringback. To have both, ${moveTo('/ringback')}`;
  const warning = { pointer: '#/webhooks', message };
  for (const { webhooks, warnings, files } of executed) {
    if (webhooks.length === 0) continue;
    warnings.push(warning);
    files.warningsBeside.push(warning);
  }
}

async function loadBeside(
  file: string,
  others: readonly Contract[],
  { contractRoot, overlays = [], owner }: LoadOptions,
): Promise<LoadedFile['result']> {
  try {
    const contract = await loadContract(file, { contractRoot, overlays, owner });
    refuseCollisions(file, contract, { others, management: others[0] });
    refuseTwins(file, contract);
    refuseWildcards(file, contract);
    return { kind: 'contract', contract };
  } catch (error) {
    if (error instanceof ContractError) return { kind: 'refused', error };
    throw error;
  }
}

/** Under a prefix the probes are served without it, too: orchestrators have their paths built in. */
function withProbes(contract: Contract, prefix: string): Contract {
  if (prefix === '') return contract;
  const probes = contract.operations
    .filter(({ operationId }) => probeIds.includes(operationId))
    .map((operation) => ({ ...operation, path: operation.path.slice(prefix.length) }));
  return { ...contract, operations: [...contract.operations, ...probes] };
}

const probeIds: readonly string[] = ['getHealth', 'getReadiness'];

/** Compiles the same contract in another thread. */
export function compileAgain(files: Contract['files']): Contract {
  const contract = compileContract(files.root, { files, owner: files.owner });
  contract.warnings.push(...files.warningsBeside);
  return files.isManagedOnly ? withoutSubscribing(contract) : contract;
}

/**
 * Keeps only operations that foreign contracts cannot replace. The document is served, so it must
 * not promise more.
 */
function withoutSubscribing(contract: Contract): Contract {
  const operations = contract.operations.filter(({ role }) => role.kind === 'managed');
  const kept = new Set(operations.map(({ operationId }) => operationId));
  const paths = Object.entries(
    isObject(contract.document['paths']) ? contract.document['paths'] : {},
  );
  const managed = paths.flatMap(([path, item]) => {
    const left = isObject(item) ? withOnly(item, kept) : {};
    const hasOperation = Object.values(left).some((one) => isObject(one) && 'responses' in one);
    return hasOperation ? [[path, left] as const] : [];
  });
  return {
    ...contract,
    operations,
    files: { ...contract.files, isManagedOnly: true },
    document: {
      ...contract.document,
      paths: Object.fromEntries(managed),
      components: withoutLinks(contract.document['components'], kept),
    },
  };
}

/** A link to a removed operation would make the document invalid. */
function withoutLinks(components: unknown, kept: ReadonlySet<string>): unknown {
  if (!isObject(components) || !isObject(components['links'])) return components;
  return { ...components, links: withOnly(components['links'], kept) };
}

function withOnly(item: JsonObject, kept: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(
    Object.entries(item).filter(([, operation]) => {
      const id = isObject(operation) ? operation['operationId'] : undefined;
      return typeof id !== 'string' || kept.has(id);
    }),
  );
}

/** Two operations on one route, or two contracts with one name, would be indistinguishable. */
function refuseCollisions(
  file: string,
  contract: Contract,
  { others, management }: { others: readonly Contract[]; management: Contract | undefined },
): void {
  const { title } = contract;
  for (const other of others) {
    if (other.title === title) {
      const reason = 'another contract has the same info.title, expected a unique title';
      throw cannotServe(file, title, reason);
    }
    for (const operation of servedOf(contract)) {
      const taken = other.operations.find((one) => isSameRoute(one, operation));
      if (taken === undefined) continue;
      const server = 'give the document a server with its own path, such as "/v1"';
      const isProbe = probeIds.includes(taken.operationId);
      const prefix = other === management && !isProbe && freePrefix([contract, ...others]);
      const advice = prefix ? `${moveTo(prefix)}, or ${server}` : server;
      const reason = `${collision(operation, taken)} of "${other.title}"; ${advice}`;
      throw cannotServe(file, title, reason);
    }
  }
}

/** One that is neither the current prefix nor that of a path of a contract. */
function freePrefix(contracts: readonly Contract[]): string | undefined {
  const paths = contracts.flatMap(({ operations }) => operations.map(({ path }) => `${path}/`));
  return ['/manage', '/ringback', '/ringback/manage'].find(
    (prefix) => !paths.some((path) => path.startsWith(`${prefix}/`)),
  );
}

function moveTo(prefix: string): string {
  const option = `--manage-prefix ${prefix} (RINGBACK_MANAGE_PREFIX)`;
  return `start with ${option}, which moves the paths of Ringback`;
}

/** `/a/{id}` and `/a/{name}` in one document, which OpenAPI forbids but few tools check. */
function refuseTwins(file: string, contract: Contract): void {
  const served = servedOf(contract);
  for (const [index, operation] of served.entries()) {
    const twin = served.slice(0, index).find((one) => isSameRoute(one, operation));
    if (twin === undefined) continue;
    const reason = `${collision(operation, twin)} of the same document`;
    throw cannotServe(file, contract.title, reason);
  }
}

/** To the router, `*` is a wildcard. */
function refuseWildcards(file: string, contract: Contract): void {
  const wild = servedOf(contract).find(({ path }) => path.includes('*'));
  if (wild === undefined) return;
  const reason = `the path ${wild.path} contains "*", expected one without wildcards`;
  throw cannotServe(file, contract.title, reason);
}

function collision(operation: Operation, taken: Operation): string {
  return (
    `${operation.method} ${operation.path} ("${operation.operationId}") collides with ` +
    `${taken.method} ${taken.path} ("${taken.operationId}")`
  );
}

function cannotServe(file: string, title: string, reason: string): ContractError {
  return new ContractError(`Cannot serve contract "${title}" (${file}): ${reason}`, { file });
}

/** The operations of a foreign contract that are executed: answered, or registered when an API has answered. */
export function executedOf({ operations }: Contract): readonly Operation[] {
  return operations.filter(({ role }) => role.kind !== 'managed');
}

/** Those that are routes of this service. */
export function servedOf(contract: Contract): readonly Operation[] {
  return contract.owner === 'api' ? [] : executedOf(contract);
}

function isSameRoute(one: Operation, other: Operation): boolean {
  return verbOf(one) === verbOf(other) && shapeOf(one.path) === shapeOf(other.path);
}

/** A route that answers GET answers HEAD too. */
function verbOf({ method }: Operation): string {
  return method === 'HEAD' ? 'GET' : method;
}

/** To a router, parameters with different names are the same. */
function shapeOf(path: string): string {
  return path.replaceAll(/\{[^{}]+\}/gu, '{}');
}
