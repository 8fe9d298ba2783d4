// Which files are mutated, and the quick tests that must notice.

export interface Subject {
  name: string;
  files: readonly string[];
  /** Tried one after the other: the quickest first. Patterns. */
  tests: readonly (readonly string[])[];
  /** Mutants of a run. */
  sample: number;
}

export const subjects: readonly Subject[] = [
  {
    name: 'src/egress',
    files: [
      'answer-head.ts',
      'answer-reader.ts',
      'answer.ts',
      'chunks.ts',
      'connect.ts',
      'connection.ts',
      'connections.ts',
      'deadlines.ts',
      'exchange.ts',
      'failure.ts',
      'guard.ts',
      'linked-list.ts',
      'recall.ts',
      'request-bytes.ts',
      'request-head.ts',
      'resolve.ts',
      'send.ts',
      'sign.ts',
    ].map((name) => `src/egress/${name}`),
    tests: [['src/egress/*.test.ts']],
    sample: 40,
  },
  {
    name: 'src/engine, the way of a delivery',
    files: ['deliver.ts', 'dispatcher.ts', 'gate.ts', 'window.ts', 'confirmation.ts'].map(
      (name) => `src/engine/${name}`,
    ),
    tests: [
      ['deliver', 'dispatcher', 'dispatcher-clock', 'confirmation'].map(
        (name) => `test/engine/${name}.test.ts`,
      ),
      ['rate', 'controls'].map((name) => `test/engine/${name}.test.ts`),
    ],
    sample: 30,
  },
  {
    name: 'src/store/postgres/connection/transact.ts',
    files: ['src/store/postgres/connection/transact.ts'],
    tests: [
      ['test/store/postgres-transact.test.ts'],
      ['test/store/postgres-hazards-commit.test.ts'],
    ],
    sample: 15,
  },
  {
    name: 'src/core/domain/lane.ts',
    files: ['src/core/domain/lane.ts'],
    tests: [['src/core/domain/lane.test.ts'], ['test/store/sqlite-lanes.test.ts']],
    sample: 30,
  },
];
