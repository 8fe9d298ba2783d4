// `npm run docs`: generates the TypeScript files of src/client/contract/ from openapi.yaml. A test
// checks that they are current. Nothing in that folder is written by hand.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { format } from 'oxfmt';
import { clientOperations, type ClientOperation } from './client-operations.ts';
import { declarationOf, treeAt, type Tree } from './schema-type.ts';

const root = join(import.meta.dirname, '..');

/**
 * Which file holds the types of which tags. A type is declared in the first file that needs it, so
 * a file imports only from earlier ones.
 */
const files: readonly { name: string; says: string; tags: readonly string[] }[] = [
  { name: 'event', says: 'events', tags: ['Events'] },
  { name: 'subscription', says: 'subscriptions', tags: ['Callbacks', 'Subscriptions'] },
  {
    name: 'delivery',
    says: 'deliveries, their attempts and replays',
    tags: ['Deliveries', 'Replays'],
  },
  {
    name: 'access',
    says: 'apps, keys, portals and the audit trail',
    tags: ['Keys', 'Audit', 'Apps', 'Portal'],
  },
  {
    name: 'service',
    says: 'the service itself, its contracts, nodes and statistics, and error responses',
    tags: ['Statistics', 'Nodes', 'Service'],
  },
];

interface Named {
  schema: Tree;
  /** Callers provide it, so absent fields may also be `undefined`. */
  isAsked: boolean;
}

/** Path below src/client/contract/ → text. */
export async function clientContract(): Promise<Map<string, string>> {
  const document = treeOf(load(readFileSync(join(root, 'openapi.yaml'), 'utf8')));
  const operations = clientOperations(document);
  const schemas = treeAt(treeAt(document, 'components'), 'schemas');
  const asked = reach(
    operations.flatMap(({ named }) => [...named].filter(([, one]) => one.isAsked)),
    schemas,
  );
  const homes = new Map<string, string>();
  const written = new Map<string, string>();
  for (const { name, says, tags } of files) {
    const own = operations.filter(({ tag }) => tags.includes(tag));
    const roots = own.flatMap(({ named, refs }) => [
      ...named,
      ...refs.map((ref): [string, Named] => [
        ref,
        { schema: treeAt(schemas, ref), isAsked: false },
      ]),
    ]);
    if (name === 'service') {
      roots.push(['Problem', { schema: treeAt(schemas, 'Problem'), isAsked: false }]);
    }
    const here = [...reach(roots, schemas)].filter(([type]) => !homes.has(type));
    for (const [type] of here) homes.set(type, name);
    const declarations = here.map(([type, { schema, isAsked }]) =>
      declarationOf(type, schema, { isAsked: isAsked || asked.has(type) }),
    );
    const head = `// Generated from openapi.yaml by \`npm run docs\`: the types of ${says}.\n`;
    const imports = importsOf(declarations.join('\n'), { homes, file: name });
    written.set(`${name}.ts`, [head + imports, ...declarations].join('\n\n'));
  }
  const calls = callsOf(operations);
  written.set(
    'operations.ts',
    [operationsHead + importsOf(calls, { homes, file: 'operations' }), operationsOf(operations)]
      .concat(membersOf(operations), calls)
      .join('\n\n'),
  );
  const settings = treeOf(JSON.parse(readFileSync(join(root, '.oxfmtrc.json'), 'utf8')));
  const entries = [...written].map(async ([path, text]): Promise<[string, string]> => {
    const { code, errors } = await format(path, `${text}\n`, { ...settings, ignorePatterns: [] });
    if (errors.length > 0) throw new Error(`Cannot format ${path}: ${JSON.stringify(errors)}`);
    return [path, code];
  });
  return new Map(await Promise.all(entries));
}

/** The given types and all that they refer to, each before its references. */
function reach(roots: readonly [string, Named][], schemas: Tree): Map<string, Named> {
  const reached = new Map<string, Named>();
  const visit = (name: string, named: Named): void => {
    if (reached.has(name)) return;
    reached.set(name, named);
    for (const [, ref = ''] of JSON.stringify(named.schema).matchAll(
      /"#\/components\/schemas\/(\w+)"/g,
    )) {
      visit(ref, { schema: treeAt(schemas, ref), isAsked: named.isAsked });
    }
  };
  for (const [name, named] of roots) visit(name, named);
  reached.delete('NextCursor'); // Page declares it.
  return reached;
}

/** Imports for the types that a text names and other files declare. */
function importsOf(
  text: string,
  { homes, file }: { homes: ReadonlyMap<string, string>; file: string },
): string {
  const words = new Set(text.replaceAll(/\/\*\*.*?\*\//gs, '').match(/\b[A-Z]\w+\b/g));
  const wanted = [...homes].filter(([type, home]) => home !== file && words.has(type));
  const lines = [...Map.groupBy(wanted, ([, home]) => home)].map(
    ([home, types]) =>
      `import type { ${types.map(([type]) => type).join(', ')} } from './${home}.ts';`,
  );
  if (words.has('Page')) lines.push("import type { Page } from '../listing.ts';");
  return lines.join('\n');
}

const operationsHead = `// Generated from openapi.yaml by \`npm run docs\`: the path of each operation and whether it may be retried,
// the members of its response, its parameters and types.
`;

function operationsOf(operations: readonly ClientOperation[]): string {
  const rows = operations.map((operation) => {
    const { id, summary, method, path, repeat, answer, joined } = operation;
    const more = joined.length === 0 ? '' : `, joined: ${JSON.stringify(joined)}`;
    return `/** ${summary}. */
    ${id}: { method: '${method}', path: '${path}', repeat: '${repeat}', answer: '${answer.kind}'${more} },`;
  });
  return `export interface Operation {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Relative to the service's URL. */
  path: string;
  /**
   * \`free\`: idempotent. \`keyed\`: idempotent with an Idempotency-Key.
   * \`once\`: must not be sent again if it may have arrived.
   */
  repeat: 'free' | 'keyed' | 'once';
  answer: 'json' | 'text' | 'nothing' | 'stream';
  /** Parameters whose list is sent comma-separated; other lists repeat the name. */
  joined?: readonly string[];
}

export const operations = {
  ${rows.join('\n  ')}
} as const satisfies Readonly<Record<string, Operation>>;

export type OperationId = keyof typeof operations;
`;
}

function membersOf(operations: readonly ClientOperation[]): string {
  const rows = operations
    .filter(({ members }) => members.length > 0)
    .map(({ id, members }) => `${id}: ${JSON.stringify(members)},`);
  return `/** The members that each JSON response has. A response without one of them is not Ringback's. */
export const members: Readonly<Partial<Record<OperationId, readonly string[]>>> = {
  ${rows.join('\n  ')}
};
`;
}

function callsOf(operations: readonly ClientOperation[]): string {
  const rows = operations.map(({ id, pathNames, query, body, answer }) => {
    const parts = [
      ...(pathNames.length === 0
        ? []
        : [`path: { ${pathNames.map((name) => `${name}: string`).join('; ')} }`]),
      ...(query === undefined ? [] : [`query${query.isNeeded ? '' : '?'}: ${query.type}`]),
      ...(body === undefined ? [] : [`body${body.isNeeded ? '' : '?'}: ${body.type}`]),
    ];
    const request = parts.length === 0 ? 'Record<never, never>' : `{ ${parts.join('; ')} }`;
    return `${id}: { request: ${request}; answer: ${answer.type} };`;
  });
  return `/** Parameters and responses of each operation. */
export interface Calls {\n${rows.join('\n')}\n}\n`;
}

function treeOf(value: unknown): Tree {
  return treeAt({ value }, 'value');
}
