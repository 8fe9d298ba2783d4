// Packs targets on their way back from the read thread: each delivery of a large fan-out reads
// another one.
import { isWithoutControls, noControls } from '../../../core/domain/controls.ts';
import type { Target } from '../../port/delivery-verbs.ts';
import { Packing, Unpacking, type Parcel } from './flat-codec.ts';

export function packTargets(targets: readonly Target[]): Parcel {
  const to = new Packing();
  to.list.push(targets.length);
  for (const target of targets) {
    const { callback, lane, version, isActive, subscription, appNo, appId } = target;
    const { contract, operation, definition, method, url, secrets, controls, headers } = target;
    to.list.push(callback, lane, version, isActive, subscription, appNo, appId);
    to.list.push(contract, operation, definition, method, url);
    to.addBytes(secrets);
    to.list.push(isWithoutControls(controls) ? undefined : controls, headers !== undefined);
    if (headers !== undefined) to.addBytes(headers);
  }
  return to.parcel();
}

/** Members in the order in which the other side packs them. */
export function unpackTargets(parcel: Parcel): Target[] {
  const from = new Unpacking(parcel);
  return from.nextFew((): Target => ({
    callback: from.next(),
    lane: from.next(),
    version: from.next(),
    isActive: from.next(),
    subscription: from.next(),
    appNo: from.next(),
    appId: from.next(),
    contract: from.next(),
    operation: from.next(),
    definition: from.next(),
    method: from.next(),
    url: from.next(),
    // Copies: a target is cached for long, and must not retain the bytes of all others.
    secrets: from.nextBytes().slice(),
    controls: from.next<Target['controls'] | undefined>() ?? noControls,
    headers: from.next<boolean>() ? from.nextBytes().slice() : undefined,
  }));
}
