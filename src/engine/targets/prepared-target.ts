// What every attempt at a target needs and only the target determines: its callback definition, its
// unsealed secrets and its headers. Computed once per cached target.
import type { CallbackDefinition, Contract } from '../../contract/model/contract.ts';
import type { Header } from '../../core/domain/attempt.ts';
import { headersOf, type SentHeaders } from '../../core/domain/callback-headers.ts';
import type { KeyRing } from '../../core/secrets/seal.ts';
import type { SigningSecret } from '../../core/secrets/signing-secret.ts';
import type { FinalCallback, Target } from '../../store/port/delivery-verbs.ts';
import { openHeaders, openSecrets } from './secrets.ts';

export interface PreparedTarget {
  /**
   * The callback of the contract that the subscription was made by, if the contract still has it.
   */
  definition: CallbackDefinition | undefined;
  /** See Settlement.finals. */
  finals: readonly string[] | undefined;
  /** Including those that are no longer valid. */
  secrets: readonly SigningSecret[];
  headers: readonly Header[];
  /** Headers that are sent until they expire. */
  expiring: SentHeaders['expiring'];
  secretQuery: string;
}

/** Throws whenever secrets or headers cannot be unsealed; the failure is not cached. */
export type Prepare = (target: Target) => PreparedTarget;

/**
 * Stored on the target itself, which every read creates and no code copies: a copy with other
 * secrets would keep the old ones here. A WeakMap with an entry per target of a large event makes
 * garbage collections pause for long (docs/performance.md).
 */
const prepared = Symbol('prepared');

type MaybePrepared = Target & { [prepared]?: PreparedTarget };

export function createPrepare(ring: KeyRing, contracts: readonly Contract[]): Prepare {
  const definitionsFor = createDefinitionsFor(contracts);
  return (target: MaybePrepared) => {
    const found = target[prepared];
    if (found !== undefined) return found;
    const owner = { appId: target.appId, subscriptionId: target.subscription };
    const definitions = definitionsFor(target);
    const definition = definitions?.get(target.definition);
    const made = {
      definition,
      finals: definition?.isFinal === true ? finalsAmong(definitions) : undefined,
      secrets: openSecrets(ring, owner, target.secrets),
      ...headersOf(openHeaders(ring, owner, target.headers), target),
    };
    target[prepared] = made;
    return made;
  };
}

type Definitions = ReadonlyMap<string, CallbackDefinition>;

/**
 * Indexed by contract, operation and definition, because every delivery of a large fan-out looks
 * one up.
 */
function createDefinitionsFor(
  contracts: readonly Contract[],
): (target: Target) => Definitions | undefined {
  const all = new Map(contracts.map(({ title, operations }) => [title, definitionsOf(operations)]));
  return ({ contract, operation }) => all.get(contract)?.get(operation);
}

function finalsAmong(definitions: Definitions = new Map()): string[] {
  return [...definitions.values()].filter(({ isFinal }) => isFinal).map(({ id }) => id);
}

/** The final callbacks of all operations. */
export function finalCallbacks(contracts: readonly Contract[]): FinalCallback[] {
  return contracts.flatMap(({ title: contract, operations }) =>
    [...definitionsOf(operations)].flatMap(([operation, definitions]) =>
      finalsAmong(definitions).map((definition) => ({ contract, operation, definition })),
    ),
  );
}

function definitionsOf(operations: Contract['operations']): Map<string, Definitions> {
  return new Map(
    operations.map(({ operationId, role }) => {
      const variants = role.kind === 'subscribe' ? role.variants : [];
      // Several variants may share a callback id: the first one wins.
      const callbacks = variants.flatMap((variant) => variant.callbacks).toReversed();
      return [operationId, new Map(callbacks.map((callback) => [callback.id, callback]))];
    }),
  );
}
