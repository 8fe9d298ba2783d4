// The program that namespace.ts runs in a network of its own. Prints a finding as JSON. Must never run
// outside: it answers for every address that there is.
import { execFileSync } from 'node:child_process';
import { getServers } from 'node:dns';
import { once } from 'node:events';
import { connect, createServer, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { DatabaseSync } from 'node:sqlite';
import { databaseIn } from '../../../src/store/open/open.ts';
import { sendTo, type Running } from '../../api/harness.ts';
import { newFolder, serve, type Env, type Folder } from '../../cli/ringback-process.ts';
import { corpusMissing, laundered, readCorpus, type CorpusRow } from '../../egress/corpus.ts';
import {
  addresses,
  startNameServer,
  type NameAnswer,
  type Question,
} from '../../egress/name-server.ts';
import { publish, subscribe } from '../../e2e/stage.ts';
import { changedSource } from '../controls/change-source.ts';
import type { Finding } from '../finding.ts';
import { seededChance } from '../sim/chance.ts';
import { forbidden4, forbidden6, Ledger } from './ledger.ts';
import { nameOf, scenarios, slowScenarios, zoneOf, type Zone } from './names.ts';
import type { NamespaceOptions } from './namespace.ts';
import { attemptsOf, closed, forAll, subscribeBody } from './stage.ts';

/** Those that must have been seen: an operator may open each of them. */
const opened = ['127.0.0.1', '::1', '169.254.169.254', 'fd00:ec2::254', '10.0.0.1', '192.168.0.1'];
const canaryPorts = [80, 443, 8080];
const key = 'k'.repeat(40);
const events = 3;
/** What a search list puts behind a name that does not exist. */
const searched = '.search.example';

interface Stage {
  options: NamespaceOptions;
  folder: Folder;
  ledger: Ledger;
  zone: Zone;
  /** Connections since it was last emptied: by the address that was dialled. */
  arrived: Map<string, number>;
  figures: Record<string, number>;
  violations: string[];
}

const options = JSON.parse(process.argv[2] ?? '{}') as NamespaceOptions;
const found = takeNetwork() ?? (await prove());
process.stdout.write(JSON.stringify(found));

/** Makes every address this machine's own. Why it cannot be done, if it cannot. */
function takeNetwork(): Omit<Finding, 'part'> | undefined {
  const others = Object.keys(networkInterfaces()).filter((name) => name !== 'lo');
  if (others.length > 0) throw new Error(`Not in a network of its own: it has ${others.join()}`);
  const ip = (...args: string[]): Buffer => execFileSync('ip', args, { stdio: 'pipe' });
  try {
    ip('link', 'set', 'lo', 'up');
    for (const address of opened.filter((one) => one !== '127.0.0.1' && one !== '::1')) {
      ip('addr', 'add', address, 'dev', 'lo');
    }
    ip('route', 'add', 'local', '0.0.0.0/0', 'dev', 'lo');
    ip('-6', 'route', 'add', 'local', '::/0', 'dev', 'lo');
    return undefined;
  } catch (error) {
    return { figures: {}, violations: [], skipped: `cannot set up a network: ${String(error)}` };
  }
}

async function prove(): Promise<Omit<Finding, 'part'>> {
  const ledger = new Ledger();
  const zone = zoneOf({ ledger, chance: seededChance(options.seed) });
  const open = ledger.fresh(4, { scenario: 'public', tainted: undefined });
  const arrived = new Map<string, number>();
  await using cleanup = new AsyncDisposableStack();
  for (const port of canaryPorts) cleanup.use(await canary(port, arrived));
  const names: Names = { zone, open, strangers: new Set() };
  const unplayed = await playNames(names, cleanup);
  if (unplayed !== undefined) return { figures: {}, violations: [], skipped: unplayed };
  const folder = cleanup.use(await newFolder());
  const [figures, violations]: [Record<string, number>, string[]] = [{}, []];
  const stage: Stage = { options, folder, ledger, zone, arrived, figures, violations };
  figures['addresses that a canary answers for'] = await countCovered(stage);
  if (options.phases === 'all') await openToSome(stage);
  await closedToAll(stage);
  if (options.phases === 'all') await pastTheReader(stage);
  for (const name of names.strangers) violations.push(`I15: looked up "${name}": no URL named it`);
  // All else was tried.
  if (corpusMissing !== undefined) return { figures, violations, skipped: corpusMissing };
  return { figures, violations };
}

interface Names {
  zone: Zone;
  /** What `public.example` is. */
  open: string;
  /** What was asked for because a search list says so. */
  strangers: Set<string>;
}

/** Stands where the name servers of this machine stand. Why that cannot be, if it cannot. */
async function playNames(
  { zone, open, strangers }: Names,
  cleanup: AsyncDisposableStack,
): Promise<string | undefined> {
  for (const host of new Set(getServers())) {
    if (isIP(host) === 0) return `cannot stand where the name server ${host} stands`;
    const answer = (question: Question): NameAnswer => {
      if (question.name.endsWith(searched)) {
        strangers.add(question.name);
        return { kind: 'code', code: 3 };
      }
      if (question.name.endsWith('.rebind.example')) return zone.answer(question);
      return addresses(question.name === 'public.example' ? open : '10.0.0.1');
    };
    cleanup.use(await startNameServer(answer, { host, port: 53 }));
  }
  return undefined;
}

/** Answers whatever comes, and writes down which address it was meant for. */
async function canary(port: number, arrived: Map<string, number>): Promise<AsyncDisposable> {
  const server = createServer((socket) => {
    const address = (socket.localAddress ?? '').replace(/^::ffff:(?=\d+\.)/, '');
    arrived.set(address, (arrived.get(address) ?? 0) + 1);
    socket.on('error', () => undefined);
    socket.on('data', () => {
      socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
    });
  });
  server.listen(port, '::');
  await once(server, 'listening');
  return { [Symbol.asyncDispose]: async () => void server.close() };
}

/** How many of the forbidden addresses somebody would be seen at, were they dialled. */
async function countCovered({ arrived, violations }: Stage): Promise<number> {
  const reach = async (host: string): Promise<boolean> => {
    const socket = connect({ host, port: 8080 });
    socket.end('GET / HTTP/1.1\r\n\r\n');
    socket.resume();
    return once(socket, 'close').then(
      () => true,
      () => false,
    );
  };
  let covered = 0;
  for (const address of [...forbidden4, ...forbidden6]) if (await reach(address)) covered += 1;
  const unseen = opened.filter((address) => !arrived.has(address));
  for (const address of unseen) violations.push(`the canary at ${address} is blind`);
  return covered;
}

/** Where it is allowed, the canaries do see somebody: or their silence would say nothing. */
async function openToSome(stage: Stage): Promise<void> {
  const { arrived, violations, figures } = stage;
  const list = opened.join().replace('127.0.0.1', 'loopback');
  arrived.clear();
  await using service = await startInside(stage, { RINGBACK_ALLOW_TARGETS: list });
  for (const address of opened) {
    await subscribe(service, `http://${address.includes(':') ? `[${address}]` : address}:8080/`);
  }
  await publishTo(stage, service);
  figures['arrived where that is allowed'] = opened.filter((one) => arrived.has(one)).length;
  for (const address of opened) {
    if (!arrived.has(address)) violations.push(`the canary at ${address} saw nobody`);
  }
}

/** The same subscriptions, the corpus, and names that change; and nothing is allowed any more. */
async function closedToAll(stage: Stage): Promise<void> {
  const { arrived, violations, figures } = stage;
  arrived.clear();
  await using service = await startInside(stage, closed);
  const rows = corpus();
  await forAll(rows, async ({ url }) => {
    const { status } = await service.call(subscribeBody(url));
    if (status < 400 || status >= 500) {
      violations.push(`I15: answered ${status} to ${JSON.stringify(url)}`);
    }
  });
  figures['URLs at subscribe'] = rows.length;
  if (rows.length === 0 && corpusMissing === undefined) violations.push('void: no URL was tried');
  const names = Object.keys(scenarios)
    .filter((one) => options.only?.includes(one) ?? isQuick(one))
    .flatMap((one) => Array.from({ length: options.names }, (_, no) => nameOf(one, no)));
  await forAll(names, async (name) => void (await subscribe(service, `http://${name}:8080/`)));
  stage.zone.turn();
  for (let event = 0; event < events; event += 1) await publishTo(stage, service);
  figures['rebinding tries'] = names.length * events;
  judge(stage);
  if (arrived.size === 0) violations.push('never met: a callback that arrived');
  figures['arrived where that is public'] = sum(arrived);
}

/** URLs that no reader has seen: they were written to the database. */
async function pastTheReader(stage: Stage): Promise<void> {
  const { arrived, figures, folder } = stage;
  const urls = corpus().flatMap(({ url }) => [url, laundered(url)]);
  if (urls.length === 0) return; // Somebody has said so already.
  arrived.clear();
  {
    await using service = await startInside(stage, closed);
    await forAll(urls, async () => void (await subscribe(service, 'http://public.example/')));
  }
  {
    using db = new DatabaseSync(databaseIn(folder.path));
    const update = db.prepare('update callback set url = ? where no = ?');
    const all = db.prepare("select no from callback where url = 'http://public.example/'").all();
    db.exec('begin');
    for (const [at, row] of all.entries()) update.run(urls[at] ?? '', Number(row['no']));
    db.exec('commit');
  }
  await using service = await startInside(stage, closed);
  await publishTo(stage, service);
  figures['URLs at the attempt'] = urls.length;
  judge(stage);
}

function judge({ arrived, ledger, violations }: Stage): void {
  for (const [address, count] of arrived) {
    const fault = ledger.fault(address);
    if (fault !== undefined) {
      violations.push(`I15: ${count} connections came to ${address}: ${fault}`);
    }
  }
}

/** As a person starts it, and with variables that point elsewhere. */
async function startInside(
  { folder, options: { changes = [] } }: Stage,
  env: Env,
): Promise<Running> {
  const proxy = 'http://10.0.0.1:8080';
  const serving = await serve({
    RINGBACK_DATA: folder.path,
    RINGBACK_API_KEY: key,
    RINGBACK_LOG: 'silent',
    RINGBACK_RETRY: '1h',
    HTTP_PROXY: proxy,
    http_proxy: proxy,
    HTTPS_PROXY: proxy,
    https_proxy: proxy,
    ALL_PROXY: proxy,
    NODE_USE_ENV_PROXY: '1',
    LOCALDOMAIN: searched.slice(1),
    RES_OPTIONS: 'ndots:9',
    ...(changes.length === 0 ? {} : changedSource(changes)),
    ...env,
  });
  return {
    url: serving.url,
    appId: serving.appId,
    key,
    call: async (call) => sendTo(serving.url, key, call),
    logged: () => serving.err(),
    [Symbol.asyncDispose]: async () => {
      serving.signal('SIGTERM');
      await serving.ended;
      await serving[Symbol.asyncDispose]();
    },
  };
}

/** Resolves when every delivery of a new event has been attempted. */
async function publishTo({ folder }: Stage, service: Running): Promise<void> {
  using db = new DatabaseSync(databaseIn(folder.path), { readOnly: true });
  const before = Object.values(await attemptsOf(db, 0)).reduce((all, one) => all + one, 0);
  const { count } = db
    .prepare('select count(*) as count from callback where inactive is null')
    .get() as { count: number };
  await publish(service, 'a');
  await attemptsOf(db, before + count);
}

/** A connection that goes astray needs a network that leads it there. */
function isQuick(scenario: string): boolean {
  return !slowScenarios.has(scenario) && !scenario.startsWith('astray');
}

function corpus(): CorpusRow[] {
  return readCorpus().filter(({ wrap }, at) => at % options.step === 0 || wrap === 'raw');
}

function sum(arrived: ReadonlyMap<string, number>): number {
  return [...arrived.values()].reduce((all, one) => all + one, 0);
}
