// Runs the guide literally in an empty folder, with the packed file as a user has it: every block of every page, in
// the order of the pages, in the same terminals. Blocks that are not executed are listed here with the reason.
import { randomBytes } from 'node:crypto';
import { cp, mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { installedPackage, whyNotInstalled } from '../package/install-package.ts';
import { freshDatabase, openDatabase, type Database } from '../postgres/database.ts';
import { startReader, type Reader } from './run-page.ts';

/** By page: the start of a block, and why it is not executed. */
const notRun: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '01-start': {
    'npm ci\nnpm pack': 'the fixture has packed a copy of the checkout, once for all tests',
    'npm install node@26': 'the Node of this test is new enough; 60 MB are not fetched for it',
    'npm install-scripts approve node': 'belongs to the one before; tried by hand with npm 11.19',
  },
  '06-cluster': { 'docker run': 'the tests have a PostgreSQL of their own, and no engine' },
};

const root = join(import.meta.dirname, '..', '..');
const suffix = randomBytes(6).toString('hex');
/** Roles are global to the server, which other tests share. */
const roles: Readonly<Record<string, string>> = {
  ringback_service: `guide_service_${suffix}`,
  shop_app: `guide_shop_${suffix}`,
};

const serviceUrl = 'postgres://ringback_service:change-me@127.0.0.1:5432/postgres';

/**
 * What `npm init -y` and `npm install` leave behind. The same install was done, for all tests, by the fixture: npm
 * takes 5 s for another one, and half a minute on a busy machine.
 */
const quickNpm = (modules: string): string => `npm() {
  case "$*" in
    'init -y') echo '{ "name": "hello", "version": "1.0.0", "type": "commonjs" }' > package.json ;;
    'install ../ringback-0.1.0.tgz') ln -s ${modules} node_modules ;;
    'install ../../ringback-0.1.0.tgz')
      mkdir -p node_modules/.bin
      ln -s ${modules}/ringback ${join(root, 'node_modules', 'express')} node_modules
      ln -s ../ringback/bin/ringback.js node_modules/.bin/ringback ;;
    *) false ;;
  esac
}`;

/** Avoids the start of npm, which takes 0.5 s for each of some fifty commands. */
const quickNpx = 'npx() { PATH="$PWD/node_modules/.bin:$PATH" "$@"; }';

describe('the guide', { skip: await whyNotInstalled() }, () => {
  let place: string;
  let database: Database;
  let reader: Reader;
  before(async () => {
    place = await mkdtemp(join(tmpdir(), 'ringback-guide-'));
    database = await freshDatabase();
    await using given = await installedPackage();
    await mkdir(join(place, 'checkout'));
    const example = join('examples', 'print-shop');
    await cp(join(root, example), join(place, 'ringback', example), { recursive: true });
    const modules = await realpath(join(given.folder, 'node_modules'));
    reader = await startReader({
      folder: join(place, 'checkout'),
      // Settings that the pages leave at their defaults.
      env: {
        npm_config_loglevel: 'error',
        RINGBACK_PORT: '8080',
        RINGBACK_URL: 'http://127.0.0.1:8080',
      },
      replace: { [serviceUrl]: urlOf('ringback_service', 'change-me'), ...roles },
      sql,
    });
    await reader.type(quickNpm(modules));
  });
  after(async () => {
    await reader[Symbol.asyncDispose]();
    for (const role of Object.values(roles)) {
      const known = await database.query('select from pg_roles where rolname = $1', [role]);
      if (known.length === 0) continue;
      await database.query(`drop owned by ${role}`);
      await database.query(`drop role ${role}`);
    }
    await database[Symbol.asyncDispose]();
    await rm(place, { recursive: true, force: true });
  });

  function urlOf(role: string, password: string): string {
    const url = new URL(database.url);
    return Object.assign(url, { username: roles[role], password }).href;
  }

  /** Runs as the role that the page names, with only the privileges that the page granted. */
  async function sql(text: string, role: string | undefined): Promise<void> {
    if (role === undefined) return void (await database.query(text));
    await using own = openDatabase(urlOf(role, 'change-me-too'));
    await own.query(text);
  }

  let isLost = false;
  /** Later pages cannot run after a failed one. */
  async function read(test: TestContext, name: string): Promise<void> {
    if (isLost) return test.skip('an earlier page has failed');
    isLost = true;
    await reader.read(`docs/guide/${name}.md`, notRun[name]);
    isLost = false;
  }

  it('1. Start', async (test) => {
    await read(test, '01-start');
    await reader.type(quickNpx);
  });
  const pages = {
    '2. Subscribe': '02-subscribe',
    '3. Publish': '03-publish',
    '4. Receive and verify': '04-receive',
    '5. Contracts': '05-contracts',
    '6. Cluster': '06-cluster',
    '7. Operate': '07-operate',
    '8. Security': '08-security',
    '9. You already have an API': '09-existing-api',
    '10. Give your customers a portal': '10-portal',
  };
  for (const [title, name] of Object.entries(pages)) {
    it(title, async (test) => read(test, name));
  }
});
