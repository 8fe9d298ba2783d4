// What the proof does not test.

export const notTried: readonly string[] = [
  'Real disks and real power cuts: the model of a power cut knows what SQLite asked the disk to do, not whether the disk obeyed.',
  'Retention, quotas, the inbox for SQL and the change feed are not part of the simulation; they have their own tests.',
  'The simulation runs the SQL of SQLite, one transaction at a time. Interleaved transactions on PostgreSQL are tested with real processes.',
  'PostgreSQL 14 to 17: all runs use the version that comes with the tests. Poolers other than PgBouncer; PgBouncer only where it is installed.',
  'With asynchronous replication, a failover loses what the standby had not received. The figure is shown above and does not count as a violation.',
  'Attacks by clients over TLS, and attacks on the console in a browser beyond the tests of the console.',
  'The corpora of hostile URLs and of foreign documents belong to other projects and are not part of this repository. Where they are missing, the parts that need them are skipped and reported as skipped.',
  'Networks that delay, lose and reorder packets: connections are cut, frozen and redirected, but single packets are not.',
];
