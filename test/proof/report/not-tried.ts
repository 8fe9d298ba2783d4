// What the proof does not show. A reader must not have to find out.

export const notTried: readonly string[] = [
  'Real disks and real power cuts: the model of a power cut knows what SQLite asked the disk to do, not whether the disk obeys.',
  'The clock of a machine set back under a service on SQLite: its wall clock is the clock of the store there, and deliveries that wait then wait longer by as much. On PostgreSQL the clock of the database counts.',
  'Retention, quotas, the inbox for SQL and the feed of changes are not in the simulation. Tests of their own hold them.',
  'The simulation runs the SQL of SQLite, one transaction at a time. What PostgreSQL does between two transactions is tried with real processes.',
  'PostgreSQL 14 to 17: all runs are on the version that comes with the tests. Poolers other than PgBouncer, and it only where the machine has one.',
  'With asynchronous replication a failover loses what the standby had not yet: the figure stands above, it is no violation.',
  'Attacks by clients over TLS, and a page of the console attacked in a browser beyond what the tests of the console do.',
  'The hostile URLs and the documents of others are the work of other people and no part of this repository: where they are not found beside it, the parts that need them are skipped, and say so.',
  'Networks that delay, lose and reorder packets: connections are cut, frozen and led astray, bytes are not.',
];
