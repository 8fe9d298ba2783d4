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
      'guard/guard.ts',
      'guard/resolve.ts',
      'http/answer-reader.ts',
      'http/answer.ts',
      'http/connect.ts',
      'http/connection.ts',
      'http/connections.ts',
      'http/deadlines.ts',
      'http/exchange.ts',
      'http/failure.ts',
      'http/linked-list.ts',
      'http/request-bytes.ts',
      'http/send.ts',
      'sign/request-head.ts',
      'sign/sign.ts',
    ].map((name) => `src/egress/${name}`),
    tests: [['src/egress/**/*.test.ts']],
    sample: 40,
  },
  {
    name: 'src/engine, the way of a delivery',
    files: ['attempt', 'dispatcher', 'gate', 'window', 'confirmation'].map(
      (name) => `src/engine/deliver/${name}.ts`,
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
