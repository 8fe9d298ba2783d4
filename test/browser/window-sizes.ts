// The windows in which pages are looked at: a desk, and phones with a finger instead of a mouse.
import type { VisitOptions } from './stage.ts';

export interface Window {
  width: number;
  /** The layout must also hold at this width. */
  narrowest: number;
  /** Boxes lie alike in both, so one will do on a desk, where it takes longer; pictures are of both. */
  schemes: readonly ('light' | 'dark')[];
  options: VisitOptions;
}

/** Nothing moves, so that a picture is the same whenever it is taken. */
const still: VisitOptions = { reducedMotion: 'reduce' };

export const windows: readonly Window[] = [
  {
    width: 1440,
    narrowest: 768,
    schemes: ['light'],
    options: { viewport: { width: 1440, height: 900 }, ...still },
  },
  {
    width: 390,
    narrowest: 360,
    schemes: ['light', 'dark'],
    options: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, ...still },
  },
];
