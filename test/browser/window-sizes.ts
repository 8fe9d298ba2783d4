// The window sizes of the page tests: a desktop, and phones with touch instead of a mouse.
import type { VisitOptions } from './stage.ts';

export interface Window {
  width: number;
  /** The layout must also hold at this width. */
  narrowest: number;
  /** The layout is the same in both schemes, so one suffices on desktops, which take longer; screenshots use both. */
  schemes: readonly ('light' | 'dark')[];
  options: VisitOptions;
}

/** Without animations, so that screenshots do not depend on the moment. */
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
