// The tests of the API that publish, or that look at connections, again with RINGBACK_FAST_PATH=off: every
// request then goes through Node's HTTP server, and nothing else may change. They need a process of their own,
// since the harness reads the setting there (test/api/harness.ts).
process.env['RINGBACK_FAST_PATH'] = 'off';

const files = [
  'admission',
  'bad-input',
  'bodies',
  'connections',
  'events',
  'quotas',
  'silent-store',
  'stopping',
];
for (const name of files) await import(`./api/${name}.test.ts`);
