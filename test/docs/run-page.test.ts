// The reader of pages must detect errors: each case is a faulty page, and the expected message.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startReader } from './run-page.ts';
import { readBlocks } from './code-blocks.ts';
import { isAsShown, jsonDifference } from './matches-page.ts';

const root = join(import.meta.dirname, '..', '..');

describe('readBlocks', () => {
  it('reads languages, marks, lines and indented fences', () => {
    const page =
      'a\n```sh terminal="x y" fails\nls\n```\n- b\n\n  ```text output\n  c\n    d\n  ```\n';
    const [first, second] = readBlocks(page);
    assert.deepEqual(first?.text, 'ls\n');
    assert.deepEqual(Object.fromEntries(first?.marks ?? []), { terminal: 'x y', fails: '' });
    assert.deepEqual([second?.line, second?.text], [7, 'c\n  d\n']);
  });
});

describe('isAsShown', () => {
  it('ignores only what the page leaves open', () => {
    assert(isAsShown('id …\n…\n', 'id 7'));
    assert(isAsShown('id …\n…\n', 'id 7\nmore\nand more\n'));
    assert(isAsShown('…\nid …\n', 'before\nid 7\n'));
    assert(isAsShown('…\n', 'anything\nat all'));
    assert(!isAsShown('id …\n', 'id 7\nmore'));
    assert(!isAsShown('id …\n…\n', 'before\nid 7'));
    assert(!isAsShown('id 7\n…\n', 'id 77'));
    assert(!isAsShown('a.c', 'abc'));
  });
});

describe('jsonDifference', () => {
  it('finds missing, additional and different members, and ignores what the page leaves open', () => {
    const came = { id: 'sub_12345', list: [1, 2], more: null };
    assert.equal(jsonDifference({ id: 'sub_…', list: [1, 2], more: null }, came), undefined);
    assert.equal(jsonDifference({ id: 'sub_…', list: [1, '…'], '…': '…' }, came), undefined);
    assert.match(jsonDifference({ id: 'sub_…', list: [1, 2] }, came) ?? '', /also has more/);
    assert.match(jsonDifference({ id: 'evt_…', '…': '…' }, came) ?? '', /\/id: /);
    assert.match(jsonDifference({ ...came, list: [1] }, came) ?? '', /\/list: /);
    assert.match(jsonDifference({ ...came, more: false }, came) ?? '', /\/more: /);
  });
});

describe('Reader', () => {
  let folder: string;
  let count = 0;
  before(async () => void (folder = await mkdtemp(join(tmpdir(), 'ringback-pages-'))));
  after(async () => rm(folder, { recursive: true }));

  async function read(page: string, notRun: Record<string, string> = {}): Promise<void> {
    const file = join(folder, `page-${(count += 1)}.md`);
    await writeFile(file, page);
    await using reader = await startReader();
    await reader.read(relative(root, file), notRun);
  }

  it('keeps variables and folders, writes files, runs code and waits for terminals', async () => {
    await read(`
\`\`\`sh
mkdir -p shop && cd shop
export NAME=world
\`\`\`
\`\`\`js title="hello.js"
import { createServer } from 'node:http';
createServer((_, answer) => answer.end('hello')).listen(8080, () => console.log('on 8080, key rbk_12345678'));
\`\`\`
\`\`\`sh terminal="server"
node hello.js
\`\`\`
\`\`\`text output="server"
on 8080, key rbk_…
\`\`\`
\`\`\`sh
echo "$NAME $(basename "$PWD")"; echo at http://127.0.0.1:8080 with rbk_…
curl http://127.0.0.1:8080
\`\`\`
\`\`\`text output
world shop
at http://127.0.0.1:8080 with rbk_12345678
hello
\`\`\`
\`\`\`js
import assert from 'node:assert';
assert.equal(process.env.NAME, 'world');
\`\`\`
\`\`\`sh fails
curl http://127.0.0.1:8081
\`\`\`
`);
  });

  const wrong: Readonly<Record<string, readonly [page: string, says: RegExp]>> = {
    'a line that fails': [
      '\n```sh\necho before\nfalse\n```\n',
      /\.md:2: line 4 failed: false\nbefore/,
    ],
    'a failure inside a pipe': ['```sh\nfalse | cat\n```\n', /failed/],
    'a shell that exits': ['```sh\nexit 3\n```\n', /the shell has ended/],
    'another output': [
      '```sh\necho a\n```\n```text output\nb\n```\n',
      /shows\nb\n\nThere came:\na/,
    ],
    'more output': ['```sh\necho a; echo b\n```\n```text output\na\n```\n', /There came:\na\nb/],
    'a command that must fail and does not': ['```sh fails\ntrue\n```\n', /must fail/],
    'a running command without expected output': [
      '```sh terminal="a"\ncat\n```\n',
      /what to wait for/,
    ],
    'a terminal that ends early': [
      '```sh terminal="a"\necho no\n```\n```text output="a"\nyes\n```\n',
      /"a" ended and did not show\nyes/,
    ],
    'broken JSON': ['```json\n{,}\n```\n', /JSON/],
    'broken YAML': ['```yaml\na: [\n```\n', /:1: /],
    'code that throws': ["```js\nthrow new Error('no')\n```\n", /no/],
    'a text block without a reason': ['```text\nx\n```\n', /name it in notRun/],
  };
  for (const [name, [page, says]] of Object.entries(wrong)) {
    it(`reports ${name}`, async () => assert.rejects(read(page), says));
  }

  it('reports a reason for a block that does not exist', async () => {
    await read('```text\nx\n```\n', { x: 'only a picture' });
    await assert.rejects(read('nothing', { x: 'only a picture' }), /has no block: x/);
  });
});
