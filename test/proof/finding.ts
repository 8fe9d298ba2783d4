// What a part of the proof found out: figures for the report, and every promise that was seen broken.

export interface Finding {
  part: string;
  figures: Record<string, number | string>;
  violations: readonly string[];
}
