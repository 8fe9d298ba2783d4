// The parts of the proof and their findings: figures for people, and violations.

export interface Finding {
  part: string;
  figures: Record<string, number | string>;
  violations: readonly string[];
  /** Events acknowledged, and how many of them were lost. The page shows the sum over all parts. */
  events?: { accepted: number; lost: number };
  /** Why all or some of it could not run on this machine. Always printed. */
  skipped?: string;
}

/** The name of the simulation's finding. Its events are counted apart, because they never left the process. */
export const simulated = 'simulation';

/** `small` is for `npm test`, a few seconds at most; `full` is for `npm run proof`. */
export type Scale = 'small' | 'full';

export interface Part {
  name: string;
  /** A sentence or two for the page: what the part does, and what must hold. */
  about: string;
  prove: (options: PartOptions) => Promise<Finding[]>;
}

export interface PartOptions {
  scale: Scale;
  /** The same seed repeats the same random choices. */
  seed: number;
  /** Reports progress. */
  say: (line: string) => void;
}
