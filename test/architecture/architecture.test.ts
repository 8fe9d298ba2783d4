import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { managementHandlers } from '../../src/api/handlers/handlers.ts';
import { loadContract } from '../../src/contract/compile/load.ts';
import { problems } from '../../src/core/errors/problem.ts';
import {
  consoleImportsTooMuch,
  documentsNotThere,
  errorsNotDocumented,
  filesTooLong,
  foldersTooFull,
  importCycles,
  importsAcrossSubRooms,
  importsUpwards,
  librariesImportTooMuch,
  operationsWithoutHandler,
  sourceTooLarge,
  sourcesNotThere,
  type Tree,
} from './checks.ts';

const root = join(import.meta.dirname, '..', '..');

/** These tests mention documents that do not exist. */
const here = 'test/architecture/';

function read(pattern: string): Tree {
  const paths = globSync(pattern, { cwd: root });
  assert.ok(paths.length > 0, `no file matches ${pattern}`);
  return new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]));
}

function isTest(path: string): boolean {
  return path.endsWith('.test.ts');
}

const source: Tree = new Map([...read('src/**/*.ts')].filter(([path]) => !isTest(path)));

const consoleSource: Tree = read('console/{src,portal}/**/*.{ts,tsx,css}');

describe('consoleImportsTooMuch', () => {
  it('finds nothing in the console', () => {
    assert.deepEqual(consoleImportsTooMuch(new Map([...source, ...consoleSource])), []);
  });

  it('finds an import of the service, of Node, of a package, and of a value of the contract', () => {
    const found = (text: string): string[] =>
      consoleImportsTooMuch(
        new Map([
          ['console/src/a.tsx', text],
          ['src/core/pure.ts', ''],
          ['src/core/hash.ts', "import { createHash } from 'node:crypto';"],
          ['src/core/through.ts', "import { hash } from './hash.ts';"],
        ]),
      );
    assert.deepEqual(found("import { x } from '../../src/core/pure.ts'; import 'preact';"), []);
    assert.equal(found("import { x } from '../../src/core/through.ts';").length, 1);
    assert.equal(found("import { x } from '../../src/core/unknown.ts';").length, 1);
    assert.equal(found("import type { x } from '../../src/api/request/call.ts';").length, 1);
    assert.equal(found("import type { x } from '../../src/client/listing.ts';").length, 1);
    const contract = "from '../../src/client/contract/access.ts';";
    assert.deepEqual(found(`import type { Key } ${contract}`), []);
    assert.equal(found(`import { members } ${contract}`).length, 1);
    assert.equal(found(`import { type Key, members } ${contract}`).length, 1);
    assert.equal(found("import { readFile } from 'node:fs';").length, 1);
    assert.equal(found("import { x } from 'react';").length, 1);
  });
});

describe('importsUpwards', () => {
  it('finds nothing in the source', () => {
    assert.deepEqual(importsUpwards(source), []);
  });

  it('finds an import from a higher floor, also of a type', () => {
    const tree = new Map([['src/core/id.ts', "import type { X } from '../engine/x.ts';"]]);
    assert.deepEqual(importsUpwards(tree), [
      'src/core/id.ts imports src/engine/x.ts: not a lower floor',
    ]);
  });

  it('finds an import of a neighbour on the same floor', () => {
    const tree = new Map([['src/store/a.ts', "import { x } from '../egress/b.ts';"]]);
    assert.equal(importsUpwards(tree).length, 1);
  });

  it('finds a file outside all rooms', () => {
    assert.equal(
      importsUpwards(new Map([['src/utils/a.ts', "import '../core/id.ts';"]])).length,
      1,
    );
    assert.equal(importsUpwards(new Map([['src/api/a.ts', "import '../utils/b.ts';"]])).length, 1);
  });
});

describe('importsAcrossSubRooms', () => {
  it('finds nothing in the source', () => {
    assert.deepEqual(importsAcrossSubRooms(source), []);
  });

  it('finds an import of a higher sub-folder, and of a neighbour', () => {
    const found = (path: string, text: string): number =>
      importsAcrossSubRooms(new Map([[path, text]])).length;
    assert.equal(found('src/egress/http/a.ts', "import { b } from '../guard/b.ts';"), 0);
    assert.equal(found('src/egress/guard/a.ts', "import { b } from '../http/b.ts';"), 1);
    assert.equal(found('src/egress/guard/a.ts', "import type { B } from '../sign/b.ts';"), 1);
  });

  it('finds a file outside all known sub-folders', () => {
    assert.equal(importsAcrossSubRooms(new Map([['src/store/other/a.ts', '']])).length, 1);
  });
});

describe('foldersTooFull', () => {
  it('finds nothing in the source', () => {
    assert.deepEqual(foldersTooFull(source), []);
  });

  it('finds a folder with 26 files', () => {
    const files = (count: number): Map<string, string> =>
      new Map(Array.from({ length: count }, (_, i) => [`src/core/a${i}.ts`, '']));
    assert.deepEqual(foldersTooFull(files(25)), []);
    assert.equal(foldersTooFull(files(26)).length, 1);
  });
});

describe('sourceTooLarge', () => {
  it('finds nothing in the source', () => {
    assert.deepEqual(sourceTooLarge(source), []);
  });

  it('finds one file too many', () => {
    const files = (count: number): Map<string, string> =>
      new Map(Array.from({ length: count }, (_, i) => [`src/core/a${i}.ts`, '']));
    assert.deepEqual(sourceTooLarge(files(506)), []);
    assert.equal(sourceTooLarge(files(507)).length, 1);
  });
});

describe('librariesImportTooMuch', () => {
  it('finds nothing in the source', () => {
    assert.deepEqual(librariesImportTooMuch(source), []);
  });

  it('finds an import of Node, of a package, and of another room', () => {
    const found = (text: string): number =>
      librariesImportTooMuch(new Map([['src/receiver/a.ts', text]])).length;
    assert.equal(found("import { b } from './b.ts'; export type { C } from './c.ts';"), 0);
    assert.equal(found("import { verify } from 'node:crypto';"), 1);
    assert.equal(found("import { x } from 'undici';"), 1);
    assert.equal(found("import type { X } from '../core/id.ts';"), 1);
    assert.equal(found("import type { X } from '../client/client.ts';"), 1);
  });

  it('finds no import of the client in the middleware, which is built on it', () => {
    const found = (text: string): number =>
      librariesImportTooMuch(new Map([['src/middleware/a.ts', text]])).length;
    assert.equal(found("import { createClient } from '../client/client.ts';"), 0);
    assert.equal(found("import { x } from '../receiver/receiver.ts';"), 1);
    assert.equal(found("import express from 'express';"), 1);
  });
});

describe('importCycles', () => {
  it('finds nothing in the source', () => {
    assert.deepEqual(importCycles(source), []);
    assert.deepEqual(importCycles(consoleSource), []);
  });

  it('finds two files that import each other, and longer cycles', () => {
    const two = new Map([
      ['src/core/a.ts', "import { b } from './b.ts';"],
      ['src/core/b.ts', "export { a } from './a.ts';"],
    ]);
    assert.deepEqual(importCycles(two), ['src/core/a.ts → src/core/b.ts → src/core/a.ts']);
    const three = new Map([
      ['src/core/a.ts', "import type { B } from './b.ts';"],
      ['src/core/b.ts', "await import('./c.ts');"],
      ['src/core/c.ts', "import './a.ts';"],
    ]);
    assert.equal(importCycles(three).length, 1);
  });
});

describe('filesTooLong', () => {
  it('finds nothing in the source', () => {
    assert.deepEqual(filesTooLong(source), []);
    assert.deepEqual(filesTooLong(consoleSource), []);
  });

  it('finds a file of 501 lines', () => {
    assert.deepEqual(filesTooLong(new Map([['a.ts', 'x\n'.repeat(500)]])), []);
    assert.equal(filesTooLong(new Map([['a.ts', 'x\n'.repeat(501)]])).length, 1);
  });
});

describe('errorsNotDocumented', () => {
  const page = readFileSync(join(root, 'docs/errors.md'), 'utf8');

  it('finds nothing in docs/errors.md', () => {
    assert.deepEqual(errorsNotDocumented(problems, page), []);
  });

  it('finds a missing code, an additional one, and one that differs', () => {
    const more = { ...problems, made_up: { status: 418, title: 'Teapot', remedy: 'None' } };
    assert.deepEqual(errorsNotDocumented(more, page), ['made_up is not in docs/errors.md']);
    const { conflict: _conflict, ...fewer } = problems;
    assert.deepEqual(errorsNotDocumented(fewer, page), ['conflict is in docs/errors.md only']);
    const other = { ...problems, conflict: { ...problems.conflict, status: 410 } };
    assert.equal(errorsNotDocumented(other, page).length, 1);
  });
});

describe('documentsNotThere', () => {
  const documents = new Set(
    ['*.md', '{console,docs,examples,src,test,tools,bench}/**/*.md'].flatMap((pattern) =>
      globSync(pattern, { cwd: root, exclude: (name) => name.includes('node_modules') }),
    ),
  );

  it('finds nothing in the repository', () => {
    const mentioning: Tree = new Map(
      ['*.md', '{docs,examples}/**/*.md', '{src,test,tools,bench}/**/*.ts', 'openapi.yaml']
        .flatMap((pattern) => [...read(pattern)])
        .filter(([path]) => !path.includes('node_modules') && !path.startsWith(here))
        .concat([...consoleSource]),
    );
    assert.deepEqual(documentsNotThere(mentioning, documents), []);
  });

  it('finds a document of another repository, by name and by path', () => {
    const found = (text: string): number =>
      documentsNotThere(new Map([['src/core/id.ts', text]]), documents).length;
    assert.equal(found('See docs/states.md, README.md and ../../docs/guide/01-start.md.'), 0);
    assert.equal(found('As DESIGN.md says.'), 1);
    assert.equal(found('See ../shared/states.md.'), 1);
    assert.equal(found('See docs/state.md.'), 1);
    assert.equal(found('As DESIGN §4 asks, and RFC §2.'), 1);
  });
});

describe('sourcesNotThere', () => {
  const programs = '{console,bench,examples,src,test,tools}/**/*.{ts,tsx}';
  const sources = globSync(programs, {
    cwd: root,
    exclude: (name) => name.includes('node_modules'),
  });

  it('finds nothing in the repository, whose decision records may name files of their time', () => {
    const pages = ['*.md', 'docs/*.md', 'docs/guide/*.md', '{src,examples}/**/*.md'];
    const mentioning: Tree = new Map(
      [...pages, '{bench,src,test,tools}/**/*.ts', 'console/{src,portal}/**/*.{ts,tsx}']
        .flatMap((pattern) => [...read(pattern)])
        .filter(([path]) => !path.includes('node_modules') && !path.startsWith(here)),
    );
    assert.deepEqual(sourcesNotThere(mentioning, sources), []);
  });

  it('finds a file that was renamed or moved, on a page and in a comment', () => {
    const found = (path: string, text: string): number =>
      sourcesNotThere(new Map([[path, text]]), ['src/core/limits/limits.ts']).length;
    const page = 'docs/architecture.md';
    assert.equal(found(page, '`limits.ts`, [x](../src/core/limits/limits.ts), `*-limits.ts`'), 0);
    assert.equal(found(page, 'See `bounds.ts`.'), 1);
    assert.equal(found(page, 'See `src/core/limits.ts`.'), 1);
    assert.equal(found('src/core/id.ts', '// See bounds.ts.\n/** Or core/limits.ts. */'), 2);
    assert.equal(found('src/core/id.ts', "import { x } from './bounds.ts'; // https://x.y/"), 0);
  });
});

describe('operationsWithoutHandler', async () => {
  const contract = await loadContract(join(root, 'openapi.yaml'));
  const handlers = managementHandlers({
    contracts: {
      prefix: '',
      management: contract,
      executed: [contract],
      builtIn: contract,
      known: [contract],
    },
    pages: {} as Parameters<typeof managementHandlers>[0]['pages'],
    isLenient: false,
    types: undefined,
    // Handlers are only listed here, never called.
    context: {} as Parameters<typeof managementHandlers>[0]['context'],
    identifier: {} as Parameters<typeof managementHandlers>[0]['identifier'],
    self: {} as Parameters<typeof managementHandlers>[0]['self'],
    probed: {} as Parameters<typeof managementHandlers>[0]['probed'],
    failures: () => 0,
    publicUrl: () => '',
    consoleFiles: undefined,
    portal: { name: undefined, accent: undefined, logo: undefined, origins: [] },
    metrics: async () => [],
    hub: {} as Parameters<typeof managementHandlers>[0]['hub'],
  });

  it('finds nothing in openapi.yaml', () => {
    assert.deepEqual(operationsWithoutHandler(contract.operations, handlers), []);
  });

  it('finds an operation without a handler, and a handler without an operation', () => {
    const { getHealth: _getHealth, ...fewer } = handlers;
    assert.deepEqual(operationsWithoutHandler(contract.operations, fewer), [
      'getHealth has no handler',
    ]);
    const more = { ...handlers, madeUp: handlers['getHealth'] };
    assert.deepEqual(operationsWithoutHandler(contract.operations, more), [
      'the handler madeUp has no operation',
    ]);
  });
});
