// What the proof has found so far: each is mended, and held by a test of its own.

export interface Found {
  /** A sentence. */
  what: string;
  test: string;
}

export const found: readonly Found[] = [
  {
    what: "A step of a node's clock, while an outcome waited to be written, moved the next attempt by as much.",
    test: 'test/engine/retry.test.ts',
  },
  {
    what: 'The names of a new data folder and of its encryption key were not synced: a power cut could take them, and with them everything.',
    test: 'test/proof/power/images.test.ts',
  },
  {
    what: 'A crash while the encryption key was written left a file that no start got past.',
    test: 'src/store/key-file.test.ts',
  },
];
