// What the pages about customers cost the whole process, in milliseconds of CPU, with 10,000 customers of 10 endpoints
// each: the lists of the console, and each page of the portal. Takes a minute. Run:
// node bench/parts/customer-pages.ts [customers]
import { mkdtemp, rm } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { start, type Call, type Started } from '../../test/api/harness.ts';
import { openPortal } from '../../test/api/portal-session.ts';
import { receive } from '../../test/e2e/receiver.ts';

const customers = Number(process.argv[2] ?? 10_000);
const endpoints = 10;
/** Customers with deliveries, and events of each. */
const [busy, events] = [200, 5];
const atOnce = 32;
const rounds = 20;

const data = await mkdtemp(join(tmpdir(), 'ringback-bench-'));
const env = {
  RINGBACK_DATA: data,
  RINGBACK_API_KEY: 'k'.repeat(43),
  RINGBACK_ENCRYPTION_KEY: 'ab'.repeat(32),
};
await using receiver = await receive(() => 200);
{
  await using first = await start({ env, hear: () => undefined });
  await fill(first, receiver.url);
}
copyToOthers(join(data, 'ringback.db'));
await using service = await start({ env, hear: () => undefined });

const customer = nameOf(Math.floor(busy / 2));
const headers = { 'x-portal-session': await openPortal(service, { customer }) };
const asCustomer = { headers, key: null };
const own = await service.call({ path: `/subscriptions?customer=${customer}` });
const { id } = (own.json['items'] as { id: string }[])[0] ?? { id: '' };
const sent = await service.call({ path: `/deliveries?customer=${customer}` });
const { id: delivery, eventId } = (sent.json['items'] as { id: string; eventId: string }[])[0] ?? {
  id: '',
  eventId: '',
};

console.log(`${customers} customers of ${endpoints} endpoints each: ms of CPU for all requests of`);
await measure('the list of 50 customers', ['/customers']);
await measure('the list of 500 customers', ['/customers?limit=500']);
await measure('the subscriptions of one', [`/subscriptions?customer=${customer}`]);
await measure('the portal, endpoints', ['/portal/session', '/subscriptions'], asCustomer);
await measure(
  'the portal, one endpoint',
  [`/subscriptions/${id}`, `/deliveries?subscriberId=${id}&limit=5`],
  asCustomer,
);
await measure(
  'the portal, deliveries',
  ['/deliveries', '/subscriptions', '/event-types'],
  asCustomer,
);
await measure(
  'the portal, one delivery',
  [`/deliveries/${delivery}`, `/events/${eventId}`],
  asCustomer,
);
await rm(data, { recursive: true });

async function measure(
  what: string,
  paths: readonly string[],
  as: Partial<Call> = {},
): Promise<void> {
  const ask = async (): Promise<void> => {
    for (const path of paths) {
      const { status, text } = await service.call({ path, ...as });
      if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
    }
  };
  for (let round = 0; round < rounds; round += 1) await ask();
  const before = process.cpuUsage();
  for (let round = 0; round < rounds; round += 1) await ask();
  const { user, system } = process.cpuUsage(before);
  console.log(`${((user + system) / 1_000 / rounds).toFixed(1).padStart(8)}  ${what}`);
}

async function fill({ call }: Started, url: string): Promise<void> {
  const post = async (path: string, body: object): Promise<void> => {
    const { status, text } = await call({ method: 'POST', path, body });
    if (status >= 300) throw new Error(`${path}: ${status} ${text}`);
  };
  await inParallel(busy * endpoints, async (at) => {
    const settings = { customer: nameOf(at % busy), events: [`order.${at % 7}`, 'invoice.*'] };
    await post('/subscribe', { callbackUrl: `${url}/${at % 50}`, 'x-ringback': settings });
  });
  await inParallel(busy * events, async (at) => {
    const event = { event: 'invoice.sent', subject: `invoice-${at}`, payload: { message: 'sent' } };
    await post('/events', { ...event, customer: nameOf(at % busy) });
  });
}

/** Gives all other customers copies of these subscriptions, which receive nothing: 100,000 calls would take minutes. */
function copyToOthers(file: string): void {
  const db = new DatabaseSync(file);
  const columns = (table: string, changed: Readonly<Record<string, string>>): [string, string] => {
    const names = db.prepare(`select name from pragma_table_info(?)`).all(table);
    const all = names.map(({ name }) => String(name));
    return [all.join(), all.map((name) => changed[name] ?? name).join()];
  };
  const copy = (table: string, changed: Readonly<Record<string, string>>): void => {
    const [names, values] = columns(table, changed);
    const from = `from ${table} where no <= ?4`;
    db.prepare(`insert into ${table} (${names}) select ${values} ${from}`).run(...given);
  };
  const { most } = db.prepare('select max(no) as most from subscription').get() as { most: number };
  let given: [number, number, string, number] = [0, 0, '', most];
  db.exec('begin');
  for (let group = 1; group < customers / busy; group += 1) {
    given = [group * most, group * busy, String(group).padStart(4, '0'), most];
    const customerName = "printf('cus_%05d', cast(substr(customer, 5) as integer) + ?2)";
    copy('subscription', { no: 'no + ?1', id: 'substr(id, 1, 22) || ?3', customer: customerName });
    copy('lane', { no: 'no + ?1', subscription: 'subscription + ?1' });
    copy('callback', { no: 'no + ?1', subscription: 'subscription + ?1', lane: 'lane + ?1' });
  }
  db.exec('commit');
  db.close();
}

async function inParallel(count: number, work: (at: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await work((next += 1) - 1);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

function nameOf(at: number): string {
  return `cus_${String(at).padStart(5, '0')}`;
}
