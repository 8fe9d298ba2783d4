// The files to mutate, with the quick tests that must detect the mutants.

export interface Subject {
  name: string;
  files: readonly string[];
  /** Groups of patterns, run in this order: the quickest first. */
  tests: readonly (readonly string[])[];
  /** Mutants per run. */
  sample: number;
}

export const subjects: readonly Subject[] = [
  {
    name: 'src/egress/http',
    files: [
      'answer-reader',
      'answer',
      'connect',
      'connection',
      'connections',
      'deadlines',
      'exchange',
      'failure',
      'request-bytes',
      'send',
    ].map((name) => `src/egress/http/${name}.ts`),
    tests: [
      ['src/egress/http/{answer,answer-reader,deadlines,request-bytes}.test.ts'],
      ['src/egress/http/{connect,send}.test.ts'],
      ['src/egress/hostile.test.ts'],
    ],
    sample: 30,
  },
  {
    name: 'src/core/base/linked-list.ts',
    files: ['src/core/base/linked-list.ts'],
    tests: [['src/core/base/linked-list.test.ts']],
    sample: 10,
  },
  {
    name: 'src/egress/guard',
    files: ['guard', 'resolve'].map((name) => `src/egress/guard/${name}.ts`),
    tests: [['src/egress/guard/{guard,resolve}.test.ts']],
    sample: 20,
  },
  {
    name: 'src/egress/sign',
    files: ['request-head', 'sign'].map((name) => `src/egress/sign/${name}.ts`),
    tests: [['src/egress/sign/*.test.ts']],
    sample: 20,
  },
  {
    name: 'src/engine, the way of a delivery',
    files: ['attempt', 'dispatcher', 'gate', 'window', 'confirmation'].map(
      (name) => `src/engine/deliver/${name}.ts`,
    ),
    tests: [
      [
        'src/engine/deliver/*.test.ts',
        'test/engine/{attempts-by-app,deliver,dispatcher,dispatcher-clock,confirmation}.test.ts',
      ],
      ['test/engine/{rate,controls}.test.ts'],
    ],
    sample: 25,
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
    files: ['lane', 'circuit-breaker', 'rate-limit'].map((name) => `src/core/domain/${name}.ts`),
    tests: [['src/core/domain/lane.test.ts'], ['test/store/sqlite-lanes.test.ts']],
    sample: 40,
  },
];
