// What a part of the proof is, and what it gives back: figures for people, and whatever was wrong.

export interface Finding {
  part: string;
  figures: Record<string, number | string>;
  violations: readonly string[];
  /** What was acknowledged, and how much of that was never seen again. Summed over all parts. */
  events?: { accepted: number; lost: number };
  /** Why it, or some of it, could not be tried here. Printed, never passed over. */
  skipped?: string;
}

/** What the finding of the simulation is called: its events were never sent over a network. */
export const simulated = 'simulation';

/** `small` is for `npm test`, a few seconds at most; `full` is for `npm run proof`. */
export type Scale = 'small' | 'full';

export interface Part {
  name: string;
  /** A sentence or two for the page: what is done, and what must hold. */
  about: string;
  prove: (options: PartOptions) => Promise<Finding[]>;
}

export interface PartOptions {
  scale: Scale;
  /** Draws whatever is drawn: the same seed, the same proof. */
  seed: number;
  /** Progress, for whoever waits. */
  say: (line: string) => void;
}
