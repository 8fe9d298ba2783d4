// Makes a report and publishes each page as an event of the document. A page that breaks the document's
// schema would be refused here, not delivered broken.
import { createClient } from 'ringback/client';
import { report, requireKey, url } from './settings.ts';

const ringback = createClient({ url, key: requireKey() });
const run = new Date().toISOString();
const rows = ['north', 'east', 'south', 'west', 'sea'].map((region, n) => ({
  region,
  sold: n * 7,
}));
const rowsPerPage = 2;

let number = 0;
for (let first = 0; first < rows.length; first += rowsPerPage) {
  number += 1;
  const page = { report, number, rows: rows.slice(first, first + rowsPerPage) };
  const event = `report.${report}.page`;
  // The same key however often this page of this run is published.
  const idempotencyKey = `${report}-${run}-${number}`;
  const { deliveries } = await ringback.publish({ event, payload: page }, { idempotencyKey });
  console.log(`Published page ${number}, to ${deliveries ?? 'many'} watchers`);
}
await ringback.publish(
  { event: `report.${report}.complete`, payload: { report, pages: number } },
  { idempotencyKey: `${report}-${run}-complete` },
);
console.log('Published that it is complete');
