// What the proof does not show. A reader must not have to find out.

export const notTried: readonly string[] = [
  'Real disks and real power cuts: the model of a power cut knows what SQLite asked the disk to do, not whether the disk obeys.',
];
