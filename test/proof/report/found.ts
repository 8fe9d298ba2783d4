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
  {
    what: 'A commit that was made while its synchronous standby was away was taken for done when its server was asked afterwards; a failover could undo it.',
    test: 'test/store/postgres-failover.test.ts',
  },
  {
    what: 'An outcome that a failover undid left its delivery with a node that had forgotten it, for ever.',
    test: 'test/store/postgres-failover.test.ts',
  },
  {
    what: 'PostgreSQL may choose a bounded number of rows again for each row below `in (…)`: more went at once than the limit, and tidying up stopped early.',
    test: 'test/store/postgres-plans.test.ts',
  },
  {
    what: 'A node whose disk was full or read-only said that it was ready.',
    test: 'test/engine/readiness.test.ts',
  },
  {
    what: 'After its database file or its log was deleted or moved, a service on SQLite went on answering 202 into a file that the next start would not find.',
    test: 'test/store/sqlite-files.test.ts',
  },
  {
    what: 'One fan-out that could not be read ended a service on SQLite at each start.',
    test: 'test/store/sqlite-poison.test.ts',
  },
  {
    what: 'One filter that could not be read refused every publish that its subscription would hear.',
    test: 'test/store/sqlite-poison.test.ts',
  },
  {
    what: 'A process whose log was a full pipe that nobody reads did not end on SIGTERM.',
    test: 'test/cli/log.test.ts',
  },
  {
    what: 'A receiver that never ends its headers took up to 105 ms of computing for one attempt.',
    test: 'src/egress/answer-reader.test.ts',
  },
  {
    what: 'Ten thousand empty headers passed the limit for headers: a window full of such receivers kept a node busy for six seconds and took 500 MiB.',
    test: 'src/egress/hostile.test.ts',
  },
  {
    what: 'A refusal of broken bytes overtook the answers to requests before them on the same connection: an event was accepted, and its publisher heard 400.',
    test: 'test/api/connections.test.ts',
  },
  {
    what: 'After 1,000 requests on one connection came empty 503s, and the connection stayed open.',
    test: 'test/api/connections.test.ts',
  },
  {
    what: 'On PostgreSQL one fan-out that cannot be read was tried for ever, without a pause, and no other was made.',
    test: 'test/store/postgres-poison.test.ts',
  },
  {
    what: 'More than a hundred fan-outs that cannot be read ended a service on SQLite at each start, and kept a node on PostgreSQL busy without a word.',
    test: 'test/store/sqlite-poison.test.ts',
  },
  {
    what: 'One fan-out that cannot be read stopped retention for good.',
    test: 'test/store/postgres-poison.test.ts',
  },
  {
    what: 'A success whose body began with hundreds of empty lines was taken for a head without end, and sent again and again.',
    test: 'src/egress/send.test.ts',
  },
  {
    what: 'The thousandth request of a connection, if it was broken, was answered with nothing for 15 seconds; and answers under way could be cut off with a connection that went on sending.',
    test: 'test/api/connections.test.ts',
  },
  {
    what: 'An error of the disk at the wrong moment ended a service on SQLite instead of making it wait.',
    test: 'test/store/sqlite-files.test.ts',
  },
  {
    what: 'Slow requests were looked for every 30 seconds only, so that the limits of 10 and 15 seconds became up to 45; and whoever went on sending after a refusal was never cut off.',
    test: 'test/api/connections.test.ts',
  },
  {
    what: '2,048 connections that ask nothing kept everybody else out.',
    test: 'test/proof/clients/clients.test.ts',
  },
  {
    what: "Somebody without a key could have everybody's reads refused, by asking for public pages and not reading them.",
    test: 'test/engine/admission.test.ts',
  },
  {
    what: 'Public pages were encoded anew for everybody who asked, and waited as many times in memory for those who do not read.',
    test: 'test/api/public-pages.test.ts',
  },
  {
    what: 'A request line with an origin, as proxies send it, was answered with 500 when it had an `Idempotency-Key`.',
    test: 'test/api/subscriptions.test.ts',
  },
  {
    what: 'A search for text with a NUL was answered with 500 on PostgreSQL.',
    test: 'test/api/events.test.ts',
  },
  {
    what: 'A time with an offset that leads out of the year 9999 was accepted, and then shown as no time at all.',
    test: 'src/core/instant.test.ts',
  },
  {
    what: 'Operations that need no key did not declare all problems that they answer with.',
    test: 'src/contract/openapi.test.ts',
  },
];
