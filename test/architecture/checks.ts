// The rules of the architecture as pure functions over a tree of files, so that tests can check them on the real
// tree, and show that each fails on a small faulty one.

/** Path below the project's root → text. */
export type Tree = ReadonlyMap<string, string>;

/** Rooms and their floors. A file imports its own room and lower floors only, types included. */
export const floors: Readonly<Record<string, number>> = {
  core: 0,
  client: 0,
  receiver: 0,
  middleware: 1,
  contract: 1,
  store: 1,
  egress: 1,
  tracing: 1,
  engine: 2,
  config: 2,
  api: 3,
  service: 4,
  cli: 5,
  main: 6,
};

/**
 * Sub-folders of the rooms, lowest row first; '' is the room's own folder. A file imports its own sub-folder and
 * those of lower rows; two sub-folders of one row do not import each other.
 */
export const subRooms: Readonly<Record<string, readonly (readonly string[])[]>> = {
  core: [['limits', 'secrets'], ['base'], ['load'], ['errors'], ['domain'], ['telemetry']],
  contract: [
    ['document', 'expression'],
    ['schema'],
    ['model'],
    ['compile', 'request'],
    ['sample'],
    ['report'],
  ],
  egress: [['guard', 'sign'], ['http']],
  store: [
    ['port'],
    ['sql'],
    ['postgres/connection', 'rules', 'sqlite/connection', 'statistics'],
    [
      'batch',
      'postgres/schema',
      'sqlite/schema',
      'sqlite/transaction',
      'verbs/lists',
      'verbs/shared',
    ],
    ['postgres/shared'],
    [
      'postgres/publish',
      'sqlite/publish',
      'verbs/accounts',
      'verbs/deliveries',
      'verbs/statistics',
      'verbs/subscriptions',
    ],
    ['postgres/deliver', 'postgres/subscribe', 'sqlite/backup', 'sqlite/deliver', 'verbs/replays'],
    ['postgres/cluster', 'sqlite/upkeep', 'verbs'],
    ['postgres/upkeep', 'sqlite/batch'],
    ['postgres/batch', 'sqlite/thread'],
    ['open'],
  ],
  engine: [
    ['admission', 'live', 'targets'],
    [''],
    ['access', 'cluster', 'publish', 'upkeep'],
    ['deliver', 'read', 'subscribe', 'telemetry'],
  ],
  api: [
    ['console', 'request'],
    ['operations'],
    ['docs', 'server'],
    ['direct', 'gateway', 'pages'],
    ['handlers'],
  ],
  cli: [
    ['terminal'],
    ['declare'],
    ['check', 'database', 'doctor', 'serve', 'service'],
    ['audit', 'keys', 'publish', 'subscriptions'],
    ['deliveries'],
    ['commands'],
    ['program'],
  ],
};

/** Imports within a room that are not from a lower row, and files outside all known sub-folders. */
export function importsAcrossSubRooms(tree: Tree): string[] {
  const rowOf = (path: string): number | undefined => {
    const row = subRooms[roomOf(path)]?.findIndex((folders) => folders.includes(folderOf(path)));
    return row === undefined || row < 0 ? undefined : row;
  };
  const strangers = [...tree.keys()].filter(
    (path) => roomOf(path) in subRooms && rowOf(path) === undefined,
  );
  const wrong = importsOf(tree).filter(([from, to]) => {
    if (roomOf(from) !== roomOf(to) || folderOf(from) === folderOf(to)) return false;
    const [row, other] = [rowOf(from), rowOf(to)];
    return row !== undefined && other !== undefined && other >= row;
  });
  return [
    ...strangers.map((path) => `${path} is in no sub-folder of subRooms`),
    ...wrong.map(([from, to]) => `${from} imports ${to}: not a lower sub-folder`),
  ];
}

export const filesInFolderMax = 25;

export function foldersTooFull(tree: Tree): string[] {
  const folders = Map.groupBy(tree.keys(), (path) => path.slice(0, path.lastIndexOf('/')));
  return [...folders]
    .filter(([, paths]) => paths.length > filesInFolderMax)
    .map(([folder, { length }]) => `${folder} has ${length} files, at most ${filesInFolderMax}`);
}

export const sourceFilesMax = 506;

export function sourceTooLarge({ size }: Tree): string[] {
  return size > sourceFilesMax ? [`src has ${size} files, at most ${sourceFilesMax}`] : [];
}

export function importsUpwards(tree: Tree): string[] {
  return importsOf(tree).flatMap(([from, to]) => {
    const [room, other] = [roomOf(from), roomOf(to)];
    const [floor, otherFloor] = [floors[room], floors[other]];
    if (floor === undefined) return [`${from} is in no room`];
    if (otherFloor === undefined) return [`${from} imports ${to}, which is in no room`];
    return room === other || otherFloor < floor ? [] : [`${from} imports ${to}: not a lower floor`];
  });
}

/**
 * The console imports pure files of core, and from the generated contract only types. Values of the
 * contract (`operations`, `members`) would put the tables of the client library into the page.
 */
export function consoleImportsTooMuch(tree: Tree): string[] {
  const inside = [...tree].filter(([path]) => path.startsWith('console/'));
  const withoutTypes = inside.map(([path, text]): [string, string] => [
    path,
    text.replaceAll(
      /^import type \{[^}]*\} from '[./]*\/src\/client\/contract\/[\w-]+\.ts';$/gm,
      '',
    ),
  ]);
  const wrong = importsOf(new Map(withoutTypes)).filter(
    ([, to]) => !to.startsWith('console/') && !(to.startsWith('src/core/') && isPure(to, tree)),
  );
  const packages = inside.flatMap(([path, text]) =>
    [...text.matchAll(/(?<!')\b(?:from|import)\s*\(?\s*'([^.'][^']*)'/g)].map(([, to = '']) => [
      path,
      to,
    ]),
  );
  const strange = packages.filter(([, to = '']) => !/^(@preact\/signals|preact(\/.*)?)$/.test(to));
  return [...wrong, ...strange].map(([from, to]) => `${from} imports ${to}`);
}

/** The rooms that each published library may import besides its own. */
const libraries: Readonly<Record<string, readonly string[]>> = {
  client: [],
  receiver: [],
  middleware: ['client'],
};

/** The published libraries run anywhere, so they import no package, and nothing of Node. */
export function librariesImportTooMuch(tree: Tree): string[] {
  return [...tree].flatMap(([path, text]) => {
    const room = roomOf(path);
    const allowed = libraries[room];
    if (allowed === undefined) return [];
    return [...text.matchAll(/(?<!')\b(?:from|import)\s*\(?\s*'([^']+)'/g)]
      .filter(([, to = '']) => {
        const other = roomOf(resolve(path, to));
        return !to.startsWith('.') || (other !== room && !allowed.includes(other));
      })
      .map(([, to = '']) => `${path} imports ${to}`);
  });
}

/** Whether neither the file nor its imports need Node. */
function isPure(path: string, tree: Tree): boolean {
  const text = tree.get(path);
  if (text === undefined || /'node:/.test(text)) return false;
  return importsOf(new Map([[path, text]])).every(([, to]) => isPure(to, tree));
}

export function importCycles(tree: Tree): string[] {
  const targets = Map.groupBy(importsOf(tree), ([from]) => from);
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (file: string, way: readonly string[]): void => {
    const seenAt = way.indexOf(file);
    if (seenAt >= 0) {
      cycles.push([...way.slice(seenAt), file].join(' → '));
      return;
    }
    if (done.has(file)) return;
    for (const [, to] of targets.get(file) ?? []) visit(to, [...way, file]);
    done.add(file);
  };
  for (const file of targets.keys()) visit(file, []);
  return cycles;
}

export const linesMax = 500;

export function filesTooLong(tree: Tree): string[] {
  return [...tree].flatMap(([path, text]) => {
    const lines = text.trimEnd().split('\n').length;
    return lines > linesMax ? [`${path} has ${lines} lines, at most ${linesMax}`] : [];
  });
}

/** Rows `| \`code\` | status | title | what to do |` of docs/errors.md against the table in code. */
export function errorsNotDocumented(
  problems: Readonly<Record<string, { status: number; title: string; remedy: string }>>,
  page: string,
): string[] {
  const rows = [...page.matchAll(/^\| `(\w+)` \| (\d+) \| ([^|]+) \| (.*) \|$/gm)];
  const written = new Map(rows.map(([, code = '', ...cells]) => [code, cells.join(' | ')]));
  const missing = Object.entries(problems).flatMap(([code, { status, title, remedy }]) => {
    const row = written.get(code);
    if (row === undefined) return [`${code} is not in docs/errors.md`];
    const expected = `${status} | ${title} | ${remedy}`;
    return row === expected ? [] : [`${code} is "${expected}", docs/errors.md says "${row}"`];
  });
  const strangers = [...written.keys()].filter((code) => !(code in problems));
  return [...missing, ...strangers.map((code) => `${code} is in docs/errors.md only`)];
}

/**
 * Mentions of documents that do not exist, such as a design that was never part of the repository. A mention is a path
 * from the root or from the file that mentions it, or a bare name such as `README.md`. A section of a document without
 * its path, such as `DESIGN §4`, leads nowhere either.
 */
export function documentsNotThere(tree: Tree, documents: ReadonlySet<string>): string[] {
  const names = new Set([...documents].map((path) => path.slice(path.lastIndexOf('/') + 1)));
  return [...tree].flatMap(([path, text]) => {
    const files = [...text.matchAll(/(?<![\w./*-])[\w./-]*\w\.md\b(?!\.\w)/g)]
      .map(([mention]) => mention)
      .filter((mention) => !isThere(mention, { path, documents, names }));
    const sections = [...text.matchAll(/\b(?!RFC\b)[A-Z]{3,} ?§ ?\d+/g)].map(
      ([mention]) => mention,
    );
    return [...files, ...sections].map((one) => `${path} mentions ${one}, which does not exist`);
  });
}

function isThere(
  mention: string,
  { path, documents, names }: Record<'documents' | 'names', ReadonlySet<string>> & { path: string },
): boolean {
  if (!mention.includes('/')) return names.has(mention);
  return documents.has(resolve('root', mention)) || documents.has(resolve(path, mention));
}

/**
 * Mentions of source files that do not exist, in pages and in comments of programs, such as a name from before a file
 * was renamed. A mention is a path, or its end: `limits.ts`, `core/limits/limits.ts`. Patterns (`*-verbs.ts`) are none.
 */
export function sourcesNotThere(tree: Tree, sources: Iterable<string>): string[] {
  const ends = new Set([...sources].flatMap(endsOf));
  return [...tree].flatMap(([path, text]) =>
    [...proseOf(path, text).matchAll(/(?<![\w*@./-])[\w./-]*[\w-]\.tsx?\b(?!\.\w)/g)]
      .map(([mention]) => mention)
      .filter((mention) => !ends.has(mention.replace(/^(\.{0,2}\/)+/, '')))
      .map((mention) => `${path} mentions ${mention}, which does not exist`),
  );
}

/** `src/core/id.ts` → `src/core/id.ts`, `core/id.ts`, `id.ts`. */
function endsOf(path: string): string[] {
  const parts = path.split('/');
  return parts.map((_part, index) => parts.slice(index).join('/'));
}

/** The comments of a program, or the whole text of a page. */
function proseOf(path: string, text: string): string {
  if (!/\.tsx?$/.test(path)) return text;
  return [...text.matchAll(/(?<=^|\s)(?:\/\/[^\n]*|\/\*[\s\S]*?\*\/)/gm)].join('\n');
}

export interface OperationLike {
  operationId: string;
  role: { kind: string };
}

export function operationsWithoutHandler(
  operations: readonly OperationLike[],
  handlers: Readonly<Record<string, unknown>>,
): string[] {
  const managed = operations.filter(({ role }) => role.kind === 'managed');
  const names = new Set(managed.map(({ operationId }) => operationId));
  return [
    ...[...names].filter((name) => !(name in handlers)).map((name) => `${name} has no handler`),
    ...Object.keys(handlers)
      .filter((name) => !names.has(name))
      .map((name) => `the handler ${name} has no operation`),
  ];
}

/** Pairs of files: the importing one, and the imported one. */
function importsOf(tree: Tree): [string, string][] {
  return [...tree].flatMap(([path, text]) =>
    [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(
      ([, to = '']): [string, string] => [path, resolve(path, to)],
    ),
  );
}

function resolve(from: string, to: string): string {
  return new URL(to, `file:///${from}`).pathname.slice(1);
}

/** `src/store/sqlite/row.ts` → `store`; `src/config.ts` and files in `src/config/` → `config`. */
function roomOf(path: string): string {
  return (path.split('/')[1] ?? '').replace(/\.ts$/, '');
}

/** `src/store/sqlite/batch/write.ts` → `sqlite/batch`; `src/engine/context.ts` → ''. */
function folderOf(path: string): string {
  return path.split('/').slice(2, -1).join('/');
}
