// A cache of very many targets, each packed into one short text: as objects they take 1 KB each,
// and every garbage collection visits them. With it, the second event to 100,000 subscriptions
// reads no targets and unseals no secrets. The texts are kept outside of the V8 heap, which would
// otherwise grow (docs/performance.md).
import { isWithoutControls, noControls } from '../../core/domain/controls.ts';
import { limits } from '../../core/limits/limits.ts';
import { NewestMap } from '../../core/base/newest-map.ts';
import type { SigningSecret } from '../../core/secrets/signing-secret.ts';
import type { FoundTarget } from './target-reads.ts';

export class PackedTargets {
  /** By callback: the slot of its text. */
  #slotByCallback = this.#emptyIndex();
  #free: number[] = [];
  #used = 0;
  readonly #blocks: Buffer[] = [];
  /**
   * Subscriptions that have changed. Their packed targets are invalid; searching for them would
   * take too long.
   */
  readonly #changed = new Set<string>();

  /** Skips a target that is packed already: it is the same, or a new read has deleted it. */
  add(found: FoundTarget): void {
    const { callback, subscription } = found.target;
    if (this.#slotByCallback.has(callback) || this.#changed.has(subscription)) return;
    const text = pack(found);
    if (text === undefined) return;
    const slot = this.#free.pop() ?? this.#used++;
    const { block, at } = this.#blockOf(slot);
    block.writeUInt16LE(block.write(text, at + lengthBytes), at);
    this.#slotByCallback.set(callback, slot);
  }

  get(callback: number): FoundTarget | undefined {
    const slot = this.#slotByCallback.get(callback);
    if (slot === undefined) return undefined;
    const { block, at } = this.#blockOf(slot);
    const from = at + lengthBytes;
    const found = unpack(callback, block.toString('utf8', from, from + block.readUInt16LE(at)));
    if (!this.#changed.has(found.target.subscription)) return found;
    this.delete(callback);
    return undefined;
  }

  delete(callback: number): void {
    const slot = this.#slotByCallback.get(callback);
    if (slot !== undefined) this.#free.push(slot);
    this.#slotByCallback.delete(callback);
  }

  forget(subscription: string): void {
    if (this.#slotByCallback.size === 0) return;
    this.#changed.add(subscription);
    if (this.#changed.size <= limits.targetsChangedMax) return;
    this.#slotByCallback = this.#emptyIndex();
    this.#free = [];
    this.#used = 0;
    this.#changed.clear();
  }

  #emptyIndex(): NewestMap<number, number> {
    return new NewestMap(limits.targetsPackedMax, (_callback, slot) => void this.#free.push(slot));
  }

  #blockOf(slot: number): { block: Buffer; at: number } {
    const index = Math.floor(slot / slotsPerBlock);
    const block = (this.#blocks[index] ??= Buffer.allocUnsafeSlow(slotsPerBlock * slotBytes));
    return { block, at: (slot % slotsPerBlock) * slotBytes };
  }
}

const slotsPerBlock = 1_024;
const lengthBytes = 2;
const slotBytes = lengthBytes + limits.targetPackedBytesMax;

/** Undefined if the target has settings of its own, sealed secrets, or too long a text. */
function pack({ target, readMs }: FoundTarget): string | undefined {
  const { secrets, isActive, headers, controls } = target;
  const isPlain = isActive && headers === undefined && isWithoutControls(controls);
  if (!isPlain || secrets instanceof Uint8Array) return undefined;
  const { lane, version, subscription, appNo, appId } = target;
  const { contract, operation, definition, method, url } = target;
  const keys = secrets.map((one) => [one.secret, one.createdMs, one.expiresMs]);
  const own = [readMs, lane, version, subscription, appNo, appId];
  const text = JSON.stringify([...own, contract, operation, definition, method, url, keys]);
  return Buffer.byteLength(text) > limits.targetPackedBytesMax ? undefined : text;
}

type Packed = [
  ...[readMs: number, lane: number, version: number, subscription: string],
  ...[appNo: number, appId: string, contract: string, operation: string, definition: string],
  ...[method: string, url: string, keys: [string, number, number | null][]],
];

function unpack(callback: number, text: string): FoundTarget {
  const packed: Packed = JSON.parse(text);
  const [readMs, lane, version, subscription, appNo, appId, ...rest] = packed;
  const [contract, operation, definition, method, url, keys] = rest;
  const secrets = keys.map(([secret, createdMs, expiresMs]): SigningSecret => ({
    secret,
    createdMs,
    expiresMs: expiresMs ?? undefined,
  }));
  const owner = { subscription, appNo, appId };
  const call = { contract, operation, definition, method, url };
  const plain = { isActive: true, secrets, controls: noControls, headers: undefined };
  return { target: { callback, lane, version, ...owner, ...call, ...plain }, readMs };
}
