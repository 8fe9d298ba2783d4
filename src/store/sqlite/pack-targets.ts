// Targets on their way back from the thread that reads: of a large fan-out each delivery asks for another one.
import { isWithoutControls, noControls } from '../../core/controls.ts';
import type { Target } from '../delivery-verbs.ts';
import { Packing, Unpacking, type Parcel } from './parcel.ts';

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

/** Members stand in the order of the list: they are read as they are written here. */
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
    // Copies: a target is remembered for long, and must not hold the bytes of all others.
    secrets: from.nextBytes().slice(),
    controls: from.next<Target['controls'] | undefined>() ?? noControls,
    headers: from.next<boolean>() ? from.nextBytes().slice() : undefined,
  }));
}
