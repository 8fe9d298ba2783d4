// Targets of very many callbacks, each as one short text: as objects they take 1 KB each, and a collection of garbage
// looks at every one of them. So a second event to 100,000 needs no read of the store, and opens no secret again.
import { isWithoutControls, noControls } from '../core/controls.ts';
import { limits } from '../core/limits.ts';
import { NewestMap } from '../core/newest-map.ts';
import type { SigningSecret } from '../core/signing-secret.ts';
import type { Found } from './target-reads.ts';

export class PackedTargets {
  #texts = new NewestMap<number, string>(limits.targetsPackedMax);
  /** Subscriptions that have changed: what is packed of them counts no more. To look for it would take too long. */
  readonly #changed = new Set<string>();

  /** What is packed already is the same, or was deleted when it was read anew. */
  add(found: Found): void {
    const { callback, subscription } = found.target;
    if (this.#texts.has(callback) || this.#changed.has(subscription)) return;
    const text = pack(found);
    if (text !== undefined) this.#texts.set(callback, text);
  }

  get(callback: number): Found | undefined {
    const text = this.#texts.get(callback);
    if (text === undefined) return undefined;
    const found = unpack(callback, text);
    if (!this.#changed.has(found.target.subscription)) return found;
    this.#texts.delete(callback);
    return undefined;
  }

  delete(callback: number): void {
    this.#texts.delete(callback);
  }

  forget(subscription: string): void {
    if (this.#texts.size === 0) return;
    this.#changed.add(subscription);
    if (this.#changed.size <= limits.targetsChangedMax) return;
    this.#texts = new NewestMap(limits.targetsPackedMax);
    this.#changed.clear();
  }
}

/** Undefined: it is no plain one whose secrets were opened, or it is long. */
function pack({ target, readMs }: Found): string | undefined {
  const { secrets, isActive, headers, controls } = target;
  const isPlain = isActive && headers === undefined && isWithoutControls(controls);
  if (!isPlain || secrets instanceof Uint8Array) return undefined;
  const { lane, version, subscription, appNo, appId } = target;
  const { contract, operation, definition, method, url } = target;
  const keys = secrets.map((one) => [one.secret, one.createdMs, one.expiresMs]);
  const own = [readMs, lane, version, subscription, appNo, appId];
  const text = JSON.stringify([...own, contract, operation, definition, method, url, keys]);
  return text.length > limits.targetPackedCharsMax ? undefined : text;
}

type Packed = [
  ...[readMs: number, lane: number, version: number, subscription: string],
  ...[appNo: number, appId: string, contract: string, operation: string, definition: string],
  ...[method: string, url: string, keys: [string, number, number | null][]],
];

function unpack(callback: number, text: string): Found {
  const packed: Packed = JSON.parse(text);
  const [readMs, lane, version, subscription, appNo, appId, ...rest] = packed;
  const [contract, operation, definition, method, url, keys] = rest;
  const secrets = keys.map(([secret, createdMs, expiresMs]): SigningSecret => ({
    secret,
    createdMs,
    expiresMs: expiresMs ?? undefined,
  }));
  const owner = { subscription, appNo, appId };
  const place = { contract, operation, definition, method, url };
  const plain = { isActive: true, secrets, controls: noControls, headers: undefined };
  return { target: { callback, lane, version, ...owner, ...place, ...plain }, readMs };
}
