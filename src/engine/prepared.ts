// What every attempt at a target needs and the target alone decides: its place in the contract, its secrets
// and its headers, opened. Made once for each target that is remembered; opened secrets are packed with it.
import type { CallbackDefinition, Contract } from '../contract/contract.ts';
import type { Header } from '../core/attempt.ts';
import type { KeyRing } from '../core/seal.ts';
import type { SigningSecret } from '../core/signing-secret.ts';
import type { Target } from '../store/delivery-verbs.ts';
import { openHeaders, openSecrets } from './secrets.ts';

export interface Prepared {
  /** The callback of the contract that the subscription came from, if the contract still has it. */
  definition: CallbackDefinition | undefined;
  /** Also those that are not valid any more. */
  secrets: readonly SigningSecret[];
  headers: readonly Header[];
}

/** Throws where secrets or headers cannot be opened, each time anew. */
export type Prepare = (target: KnownTarget) => Prepared;

/**
 * On the target itself, which each read makes anew and nobody copies: a copy with other secrets would have the old
 * ones here. In a WeakMap an event to 100,000 left as many entries, and then a collection stopped all for 43 ms, 20 of
 * them for the map alone.
 */
const prepared = Symbol('prepared');

/** A target of which more may be known than what the store says. */
export interface KnownTarget extends Omit<Target, 'secrets'> {
  /** Sealed, or opened by who has prepared it before. */
  secrets: Uint8Array | readonly SigningSecret[];
  [prepared]?: Prepared;
}

export function createPrepare(ring: KeyRing, contracts: readonly Contract[]): Prepare {
  const definitionOf = createDefinitionOf(contracts);
  return (target) => {
    const found = target[prepared];
    if (found !== undefined) return found;
    const owner = { appId: target.appId, subscriptionId: target.subscription };
    const { secrets, headers } = target;
    const made = {
      definition: definitionOf(target),
      secrets: secrets instanceof Uint8Array ? openSecrets(ring, owner, secrets) : secrets,
      headers: openHeaders(ring, owner, headers),
    };
    target[prepared] = made;
    target.secrets = made.secrets;
    return made;
  };
}

/** By contract, operation and definition: of a large fan-out each delivery asks, and to search took 6 µs. */
function createDefinitionOf(
  contracts: readonly Contract[],
): (target: KnownTarget) => CallbackDefinition | undefined {
  const all = new Map(contracts.map(({ title, operations }) => [title, definitionsOf(operations)]));
  return ({ contract, operation, definition }) =>
    all.get(contract)?.get(operation)?.get(definition);
}

function definitionsOf(
  operations: Contract['operations'],
): Map<string, Map<string, CallbackDefinition>> {
  return new Map(
    operations.map(({ operationId, role }) => {
      const variants = role.kind === 'subscribe' ? role.variants : [];
      // Variants may have one in common: then the first counts.
      const callbacks = variants.flatMap((variant) => variant.callbacks).toReversed();
      return [operationId, new Map(callbacks.map((callback) => [callback.id, callback]))];
    }),
  );
}
