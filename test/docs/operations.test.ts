// Executes every sql, sh and js block of docs/operations.md, in the order of the page, on one database that is
// initially empty: the page's role creates the schema. Blocks that cannot be executed are marked `text`.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { newFolder, runChild, serve, startChild, type Folder } from '../cli/ringback-process.ts';
import { freshDatabase, type Database } from '../postgres/database.ts';
import { readBlocks } from './code-blocks.ts';

const root = join(import.meta.dirname, '..', '..');
const page = readFileSync(join(root, 'docs', 'operations.md'), 'utf8');

const blocks = readBlocks(page);
const suffix = randomBytes(6).toString('hex');

describe('docs/operations.md', () => {
  let database: Database;
  let folder: Folder;
  const encryptionKey = randomBytes(32).toString('base64');
  before(async () => {
    database = await freshDatabase();
    folder = await newFolder();
    await mkdir(join(folder.path, 'backups'));
    // The first start of a service creates something to back up.
    await using alone = await serve({ RINGBACK_DATA: join(folder.path, 'data') });
    alone.signal('SIGTERM');
    assert.equal(await alone.ended, 0);
  });
  after(async () => {
    const roles = [`ringback_service_${suffix}`, `shop_${suffix}`];
    for (const role of roles) {
      const known = await database.query('select from pg_roles where rolname = $1', [role]);
      if (known.length === 0) continue;
      await database.query(`drop owned by ${role}`);
      await database.query(`drop role ${role}`);
    }
    await database[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  });

  function clusterEnv(): Record<string, string> {
    const url = urlOf('ringback_service', 'change-me');
    return { DATABASE_URL: url, RINGBACK_ENCRYPTION_KEY: encryptionKey };
  }

  /** Connects as one of the page's roles, with only the privileges that the page granted. */
  function urlOf(role: string, password: string): string {
    const url = new URL(database.url);
    Object.assign(url, { username: `${role}_${suffix}`, password });
    return url.href;
  }

  it('uses only known languages, and has blocks to run', () => {
    const known = new Set(['sql', 'sh', 'js', 'text']);
    assert.deepEqual(
      blocks.filter(({ language }) => !known.has(language)),
      [],
    );
    for (const language of ['sql', 'sh', 'js']) {
      assert(blocks.some((block) => block.language === language));
    }
  });

  for (const { language, text, line } of blocks) {
    if (language === 'text') continue;
    it(`runs the ${language} block in line ${line}`, async () => {
      if (language === 'sql') await runSql(text);
      else if (language === 'js') await runJs(text);
      else await runShell(text);
    });
  }

  it('published the events of the blocks, with a role that can do nothing else', async () => {
    const columns = 'select name, subject, customer from ringback.inbox order by no';
    const rows = await database.query(columns);
    assert.deepEqual(
      rows.map(({ name, subject, customer }) => [name, subject, customer]),
      [
        ['order.created', null, null],
        ['order.created', null, null],
        ['job.done', 'job_17', null],
        ['invoice.sent', null, 'cus_1'],
      ],
    );
    await assert.rejects(
      database.query(`set role shop_${suffix}; select * from ringback.inbox`),
      /permission denied/,
    );
  });

  it('has queries that find what they are meant for', async () => {
    assert.deepEqual(await database.query(queryWith('must return no row')), []);
    await database.query(stuckLane);
    const stuck = await database.query(queryWith('must return no row'));
    assert.deepEqual(stuck, [{ no: '7' }]);
    const [backlog] = await database.query(queryWith('The backlog by lane'));
    assert.equal(backlog?.['lane'], '7');
    assert.equal(backlog?.['waiting'], '1');
    const nodes = await database.query(queryWith('Live nodes, and'));
    assert.deepEqual(
      nodes.map(({ name, running }) => [name, running]),
      [['busy', '1']],
    );
    await database.query('update ringback.lane set ordered = 1');
    assert.deepEqual(
      await database.query(queryWith('must return no row')),
      [],
      'its first delivery is running',
    );
  });

  it('repairs missing and short spans of slices, and narrows none', async () => {
    await database.query(unknownSlices);
    await database.query(queryWith('may be missing from lists'));
    const rows = await database.query(`
      select slice::int, right(first_event, 1) as first, right(last_event, 1) as last
      from ringback.slice_span where slice > 900 order by slice`);
    assert.deepEqual(rows, [
      { slice: 901, first: '2', last: '4' },
      { slice: 902, first: '5', last: '7' },
      { slice: 903, first: '0', last: '9' },
    ]);
  });

  /** Roles are global to the server, which other tests share. */
  async function runSql(text: string): Promise<void> {
    await database.query(text.replaceAll(/\b(ringback_service|shop)\b/g, `$1_${suffix}`));
  }

  async function runJs(text: string): Promise<void> {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '--eval', text],
      { cwd: root, env: { ...process.env, DATABASE_URL: urlOf('shop', 'change-me-too') } },
    );
    assert.match(stdout, /^evt_\w{26}\n$/);
  }

  /** Runs each command line as a process, with the page's folders replaced by the test's. */
  async function runShell(text: string): Promise<void> {
    for (const command of text.split('\n')) {
      const [words = ''] = command.split(' #');
      const [, args] = /^npm run -s ringback -- (.+)$/.exec(words.trim()) ?? [];
      if (args === undefined) {
        assert.match(words.trim(), /^(export [A-Z_ ]+)?$/, 'the test cannot run this command');
        continue;
      }
      await runRingback(args.split(/\s+/));
    }
  }

  async function runRingback(words: readonly string[]): Promise<void> {
    const moved = words.map((word) =>
      word.replace(/^\/backups/, join(folder.path, 'backups')).replace(/^\.\/data/, dataDir()),
    );
    if (words[0] === 'serve') {
      await using node = startChild(moved, clusterEnv());
      await node.says(/listens on \S+\n/);
      node.signal('SIGTERM');
      assert.equal(await node.ended, 0);
      return;
    }
    const env: Record<string, string> = words.includes('--data') ? {} : clusterEnv();
    const { code, out, err } = await runChild(moved, env);
    assert.equal(code, 0, `${words.join(' ')}: ${out}${err}`);
  }

  function dataDir(): string {
    return join(folder.path, 'data');
  }
});

/** The first sql block after these words. */
function queryWith(words: string): string {
  const line = page.slice(0, page.indexOf(words)).split('\n').length;
  const block = blocks.find((one) => one.language === 'sql' && one.line > line);
  assert(block !== undefined && page.includes(words), words);
  return block.text;
}

/** An open lane that is never looked at, with a pending delivery and one in flight on a node. */
const stuckLane = `
  insert into ringback.node (no, name, role, version, started_ms, seen_ms)
    values (99, 'busy', 'worker', '1', 1, 1);
  insert into ringback.subscription (no, id, app, contract, operation, secrets, version, created_ms)
    select 7, repeat('0', 26), no, 'c', 'o', '', 1, 1 from ringback.app limit 1;
  insert into ringback.lane (no, app, subscription) select 7, app, 7 from ringback.subscription;
  insert into ringback.delivery_live (event, n, app, lane, callback, due_ms, slice, lease)
    values (repeat('0', 26), 0, 1, 7, 1, 1, 1, null), (repeat('0', 26), 1, 1, 7, 1, 1, 1, 99::bigint << 32);`;

/** Events of three slices: one without a span, one with a span that is too short, and one with a long span. */
const unknownSlices = `
  with day as (
    select substring(pg_get_expr(relpartbound, oid) from 'FROM \\(''(.{10})') || repeat('0', 15) as id
    from pg_class where relname ~ '^event_\\d{8}$' order by relname limit 1),
  made as (
    insert into ringback.event (id, app, name, slice, created_ms, deliveries, payload)
    select day.id || n, 1, 'order.created', slice, 1, 0, '' from day,
      (values (901, 2), (901, 4), (902, 5), (902, 7), (903, 8)) as x (slice, n))
  insert into ringback.slice_span (slice, first_event, last_event)
  select slice, day.id || first, day.id || last from day,
    (values (902, 6, 6), (903, 0, 9)) as x (slice, first, last)`;
