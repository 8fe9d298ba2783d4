// Checks the clocks of this machine: the wall clock is set, and the monotonic one advances.
import type { World } from '../../core/base/world.ts';
import { failed, ok, type Finding } from './finding.ts';

/** No version of Ringback is older than this. */
const earliestMs = Date.UTC(2026, 0, 1);
const napMs = 10;

export async function checkClocks(
  world: Pick<World, 'nowMs' | 'monotonicMs' | 'sleep'>,
): Promise<Finding> {
  const beganMs = world.monotonicMs();
  await world.sleep(napMs);
  const passedMs = world.monotonicMs() - beganMs;
  const nowMs = world.nowMs();
  const shown = new Date(nowMs).toISOString();
  if (nowMs < earliestMs) {
    const remedy = 'Set the clock (NTP): ids, signatures and retention depend on it';
    return failed('clock', { message: `The system clock says ${shown}`, remedy });
  }
  if (passedMs <= 0) {
    return failed('clock', {
      message: `The monotonic clock advanced ${passedMs} ms during a sleep of ${napMs} ms`,
      remedy:
        'Check the virtual machine and its clock source: deadlines and heartbeats depend on ' +
        'it',
    });
  }
  return ok('clock', shown);
}
