// The windows in which pages are looked at: a desk and two phones, with a finger instead of a mouse.
import type { VisitOptions } from './stage.ts';

export interface Window {
  width: number;
  /** Pictures are taken of it. */
  isShot: boolean;
  options: VisitOptions;
}

export const windows: readonly Window[] = [
  { width: 1440, isShot: true, options: { viewport: { width: 1440, height: 900 } } },
  { width: 390, isShot: true, options: phone(390, 844) },
  { width: 360, isShot: false, options: phone(360, 740) },
];

function phone(width: number, height: number): VisitOptions {
  return { viewport: { width, height }, isMobile: true, hasTouch: true };
}
