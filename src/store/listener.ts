// Who hears an event: a callback, and the lane that its deliveries wait in.
import type { Lane } from '../core/lane.ts';

export interface Listener {
  callback: number;
  lane: Lane;
}
