// Generates docs/reference.md from openapi.yaml: every operation with its input, who may call it,
// an example, and its answers. Shared objects are described once, at the end.
import { join } from 'node:path';
import { curl } from '../src/api/docs/example.ts';
import { groupByTag, type Group, viewOf } from '../src/api/docs/page.ts';
import {
  type View,
  entriesOf,
  objectAt,
  parameterKey,
  summaryOf,
  textIn,
  writtenParameters,
} from '../src/api/docs/view.ts';
import type { Operation } from '../src/contract/model/contract.ts';
import { loadContract } from '../src/contract/compile/load.ts';
import {
  fieldRows,
  isNamedObject,
  rowsTable,
  schemaWords,
  type Shelf,
} from './reference-fields.ts';
import { describeSecurity } from './reference-security.ts';

export async function referencePage(): Promise<string> {
  const contract = await loadContract(join(import.meta.dirname, '..', 'openapi.yaml'));
  const view = viewOf(contract);
  const shelf: Shelf = { root: view.root, named: new Map() };
  const groups = groupByTag(view, contract.operations);
  const sections = groups.map((group) => groupText(view, shelf, group));
  return `${introduction}
${contents(view, groups)}
${sections.join('\n')}
${objectsText(shelf)}
This page is generated from [\`openapi.yaml\`](../openapi.yaml) by \`npm run docs\`.
`;
}

const introduction = `# API reference

All operations of the API, generated from the document that the service executes. A running service shows the same
pages at \`/docs\`, including your own contracts. Bodies are JSON, in UTF-8, at most 1 MiB. The examples read your key
from \`$KEY\`; replace \`$ID\` and names that start with \`MY_\`.

**Who may call.** "Key" is an API key in the header \`X-API-Key\`, the query parameter \`api_key\` or the cookie
\`X-API-KEY\`. Unless stated otherwise, a console session is accepted as well. The key needs the named scope.

**Lists** return \`items\` and \`nextCursor\`: pass it as \`cursor\` to get the next page; \`null\` means that there is
none. **Errors** are problem details with a \`code\`; see [Errors](errors.md). Besides the statuses listed for an
operation, any operation may return 408, 413, 414, 429, 431, 500 or 503.
`;

function contents(view: View, groups: readonly Group[]): string {
  const rows = groups.flatMap(({ title, operations }) => [
    `| **[${title}](#${anchorOf(title)})** | |`,
    ...operations.map((operation) => {
      const summary = summaryOf(operation, view.written(operation));
      const heading = headingOf(operation);
      return `| [\`${heading}\`](#${anchorOf(heading)}) | ${cell(summary)} |`;
    }),
  ]);
  return ['| operation | |', '|---|---|', ...rows, ''].join('\n');
}

/** Method and path are unique, which summaries are not. */
function headingOf({ method, path }: Operation): string {
  return `${method} ${path}`;
}

/** As GitHub generates anchors. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\- _]/gu, '')
    .replaceAll(' ', '-');
}

function groupText(view: View, shelf: Shelf, { title, description, operations }: Group): string {
  const parts = operations.map((operation) => operationText(view, shelf, operation));
  return [`## ${title}`, '', description ?? '', '', ...parts].join('\n');
}

function operationText(view: View, shelf: Shelf, operation: Operation): string {
  const written = view.written(operation)?.operation ?? {};
  const description = textIn(written, 'description')?.trim();
  const summary = summaryOf(operation, view.written(operation));
  return [
    `### \`${headingOf(operation)}\``,
    '',
    `**${summary}.** For ${describeSecurity(operation)}. \`${operation.operationId}\``,
    '',
    ...(description === undefined ? [] : [description, '']),
    ...examples(view, operation),
    ...parametersText(view, shelf, operation),
    ...bodyText(shelf, objectAt(view.root, written['requestBody'])),
    ...answersText(shelf, objectAt(view.root, written['responses'])),
  ].join('\n');
}

function examples(view: View, operation: Operation): string[] {
  const { role } = operation;
  const variants = role.kind === 'subscribe' ? role.variants : [undefined];
  const lines = variants.map((variant) => {
    const name = variant === undefined || variants.length === 1 ? '' : `# ${variant.name}\n`;
    return name + curl(view, operation, variant);
  });
  return ['```sh', lines.join('\n\n'), '```', ''];
}

function parametersText(view: View, shelf: Shelf, operation: Operation): string[] {
  const found = view.written(operation);
  if (operation.parameters.length === 0 || found === undefined) return [];
  const written = writtenParameters(view.root, found);
  const rows = operation.parameters.map((parameter) => {
    const here = written.get(parameterKey(parameter)) ?? {};
    const words = schemaWords(shelf, here['schema'], textIn(here, 'description'));
    const name = `\`${parameter.name}\`${parameter.required ? ' *' : ''}`;
    return { name, type: `${parameter.in}: ${words.type}`, says: words.says };
  });
  return rowsTable('parameter (* required)', rows);
}

function bodyText(shelf: Shelf, body: Readonly<Record<string, unknown>>): string[] {
  const [content] = entriesOf(objectAt(shelf.root, body['content']));
  if (content === undefined) return [];
  const { schema } = objectAt(shelf.root, content[1]);
  const rows = fieldRows(shelf, schema);
  const heading =
    body['required'] === true ? 'body (* required)' : 'body, optional (* required in it)';
  return rowsTable(heading, rows);
}

/** Successful answers with their fields; refusals in one line, since they all look alike. */
function answersText(shelf: Shelf, responses: Readonly<Record<string, unknown>>): string[] {
  const all = entriesOf(responses).filter(([status]) => status !== 'default');
  const refusals = all.filter(([, value]) => isProblem(shelf, value)).map(([status]) => status);
  const others = all.filter(([status]) => !refusals.includes(status));
  return [
    ...others.flatMap(([status, value]) => answerText(shelf, status, objectAt(shelf.root, value))),
    ...(refusals.length === 0
      ? []
      : [`Errors: ${refusals.join(', ')}. See [Errors](errors.md).`, '']),
  ];
}

function isProblem({ root }: Shelf, value: unknown): boolean {
  return Object.hasOwn(objectAt(root, value, 'content'), 'application/problem+json');
}

function answerText(
  shelf: Shelf,
  status: string,
  response: Readonly<Record<string, unknown>>,
): string[] {
  const [media] = entriesOf(objectAt(shelf.root, response['content']));
  const says = `**${status}** ${oneLine(textIn(response, 'description') ?? '')}`;
  if (media === undefined) return [says, ''];
  const { schema } = objectAt(shelf.root, media[1]);
  if (media[0] !== 'application/json') return [`${says} Its body is \`${media[0]}\`.`, ''];
  if (isNamedObject(shelf, schema)) return [`${says} ${schemaWords(shelf, schema).type}`, ''];
  return [says, '', ...rowsTable('field (* always present)', fieldRows(shelf, schema))];
}

function oneLine(text: string): string {
  return text.trim().replaceAll(/\s+/gu, ' ');
}

/** Objects that were referred to, including by each other. */
function objectsText(shelf: Shelf): string {
  const done = new Map<string, string>();
  // Each may add further ones to the shelf: iterating a Map includes entries added during the loop.
  for (const [name, schema] of shelf.named) {
    const { says } = schemaWords(shelf, schema);
    const rows = rowsTable('field', fieldRows(shelf, schema));
    done.set(name, [`### ${name}`, '', ...(says === '' ? [] : [says, '']), ...rows].join('\n'));
  }
  const sorted = [...done].toSorted(([a], [b]) => a.localeCompare(b)).map(([, text]) => text);
  return ['## Objects', '', 'Fields with * are always present.', '', ...sorted].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', String.raw`\|`);
}
