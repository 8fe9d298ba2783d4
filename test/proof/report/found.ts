// Faults that the proof has found. Each is fixed and has a test.

export interface Found {
  /** A sentence. */
  what: string;
  test: string;
}

export const found: readonly Found[] = [
  {
    what: 'A clock step on a node while an outcome was waiting to be written moved the next attempt by the same amount.',
    test: 'test/engine/retry.test.ts',
  },
  {
    what: 'The directory entries of a new data folder and of its encryption key were not synced, so a power cut could lose them and thereby all data.',
    test: 'test/proof/power/images.test.ts',
  },
  {
    what: 'A crash while the encryption key was being written left a file that made every further start fail.',
    test: 'src/store/open/key-file.test.ts',
  },
  {
    what: 'A commit made while its synchronous standby was down was reported as done when the server was queried afterwards, although a failover could undo it.',
    test: 'test/store/postgres-failover.test.ts',
  },
  {
    what: 'An outcome that a failover undid left its delivery leased forever to a node that no longer knew it.',
    test: 'test/store/postgres-failover.test.ts',
  },
  {
    what: 'PostgreSQL may evaluate a limited subquery again for each row of `in (…)`: more rows were processed at once than the limit, and cleanup stopped early.',
    test: 'test/store/postgres-plans.test.ts',
  },
  {
    what: 'A node with a full or read-only disk reported that it was ready.',
    test: 'test/engine/readiness.test.ts',
  },
  {
    what: 'After its database file or log was deleted or moved, a service on SQLite kept answering 202 and wrote to a file that the next start would not find.',
    test: 'test/store/sqlite-files.test.ts',
  },
  {
    what: 'A single unreadable fan-out ended a service on SQLite at each start.',
    test: 'test/store/sqlite-poison.test.ts',
  },
  {
    what: 'A single unreadable filter caused every publish that matched its subscription to be refused.',
    test: 'test/store/sqlite-poison.test.ts',
  },
  {
    what: 'A process whose log was a full pipe without a reader did not end on SIGTERM.',
    test: 'test/cli/log.test.ts',
  },
  {
    what: 'A receiver that never ends its headers cost up to 105 ms of CPU for one attempt.',
    test: 'src/egress/http/answer-reader.test.ts',
  },
  {
    what: 'Ten thousand empty headers passed the limit for headers: a window full of such receivers kept a node busy for six seconds and took 500 MiB.',
    test: 'src/egress/hostile.test.ts',
  },
  {
    what: 'A refusal of malformed bytes overtook the responses to earlier requests on the same connection: an event was accepted, but its publisher received 400.',
    test: 'test/api/connections.test.ts',
  },
  {
    what: 'After 1,000 requests on one connection, empty 503 responses were sent and the connection stayed open.',
    test: 'test/api/connections.test.ts',
  },
  {
    what: 'On PostgreSQL, an unreadable fan-out was retried forever without a pause, and no other fan-out proceeded.',
    test: 'test/store/postgres-poison.test.ts',
  },
  {
    what: 'More than a hundred unreadable fan-outs ended a service on SQLite at each start, and kept a node on PostgreSQL busy without a log line.',
    test: 'test/store/sqlite-poison.test.ts',
  },
  {
    what: 'An unreadable fan-out stopped retention permanently.',
    test: 'test/store/postgres-poison.test.ts',
  },
  {
    what: 'A success whose body began with hundreds of empty lines was read as an endless head, and its delivery was repeated.',
    test: 'src/egress/http/send.test.ts',
  },
  {
    what: 'The thousandth request of a connection, if malformed, got no response for 15 seconds; and responses in progress could be cut off on a connection that kept sending.',
    test: 'test/api/connections.test.ts',
  },
  {
    what: 'A disk error at the wrong moment ended a service on SQLite instead of making it wait.',
    test: 'test/store/sqlite-files.test.ts',
  },
  {
    what: 'Slow requests were checked only every 30 seconds, so that the limits of 10 and 15 seconds became up to 45; and a client that kept sending after a refusal was never disconnected.',
    test: 'test/api/connections.test.ts',
  },
  {
    what: '2,048 idle connections kept all other clients out.',
    test: 'test/proof/clients/clients.test.ts',
  },
  {
    what: 'A client without a key could cause all reads to be refused, by requesting public pages without reading the responses.',
    test: 'test/engine/admission.test.ts',
  },
  {
    what: 'Public pages were encoded again for each request, and one copy per client stayed in memory for clients that do not read.',
    test: 'test/api/public-pages.test.ts',
  },
  {
    what: 'A request line with an origin, as proxies send it, was answered with 500 if it had an `Idempotency-Key`.',
    test: 'test/api/subscriptions.test.ts',
  },
  {
    what: 'A search for text with a NUL was answered with 500 on PostgreSQL.',
    test: 'test/api/events.test.ts',
  },
  {
    what: 'A time whose offset leads beyond the year 9999 was accepted, and then shown as an invalid time.',
    test: 'src/core/base/parse-time.test.ts',
  },
  {
    what: 'Operations that need no key did not declare all of their error responses.',
    test: 'src/contract/openapi.test.ts',
  },
  {
    what: 'When the connection to PostgreSQL broke just as an API had answered, the gateway sent the answer on without confirming its subscription, so events with its subject did not reach it. The node now confirms it when the store works again.',
    test: 'test/gateway/modes.test.ts',
  },
];
