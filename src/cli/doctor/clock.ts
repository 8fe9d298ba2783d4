// Checks the clocks of this machine: the wall clock is set, and the monotonic one advances.
import type { World } from '../../core/world.ts';
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
    const remedy = 'Set the clock (NTP): ids, signatures and retention go by it';
    return failed('clock', { message: `This machine believes that it is ${shown}`, remedy });
  }
  if (passedMs <= 0) {
    return failed('clock', {
      message: `The monotonic clock went ${passedMs} ms in ${napMs} ms`,
      remedy: 'Check the virtual machine and its clock source: deadlines and heartbeats go by it',
    });
  }
  return ok('clock', shown);
}
