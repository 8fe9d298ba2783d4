// Runs the API tests that publish or examine connections again with RINGBACK_FAST_PATH=off: every request then
// goes through Node's HTTP server, and nothing else may change. They need a separate process, because
// test/api/harness.ts reads the setting from its environment.
process.env['RINGBACK_FAST_PATH'] = 'off';

const files = [
  'admission',
  'bad-input',
  'bodies',
  'connections',
  'event-types',
  'events',
  'quotas',
  'silent-store',
  'stopping',
];
for (const name of files) await import(`./api/${name}.test.ts`);
