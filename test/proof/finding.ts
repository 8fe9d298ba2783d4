// What a part of the proof gives back: figures for people, and whatever was wrong.

export interface Finding {
  part: string;
  figures: Record<string, number | string>;
  violations: readonly string[];
}
