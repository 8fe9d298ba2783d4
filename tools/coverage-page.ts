// docs/openapi-coverage.md, from what became of each document in a run of tools/coverage.ts.
import { relative } from 'node:path';
import type {
  DocumentResult,
  JudgedAnswer,
  OperationResult,
} from '../test/contract/corpus/run-document.ts';

export interface CoverageOptions {
  /** CPU seconds of `ringback check`, one for each result. */
  cpuSeconds: readonly number[];
  /** Where they were measured. */
  machine: string;
}

export function coveragePage(
  results: readonly DocumentResult[],
  { cpuSeconds, machine }: CoverageOptions,
): string {
  const operations = results.flatMap((result) => result.operations);
  const run = operations.filter(isRun);
  const idle = operations.filter((one) => !isRun(one));
  const unable = idle.filter(isUnable).length;
  const answers = operations.flatMap((one) => one.answers);
  const matching = answers.filter(fits).length;
  const without = results.filter((one) => one.operations.length === 0).length;
  const decision = relative('docs', 'docs/decisions/0039-check-reads-the-document-alone.md');
  const agreed = results.filter(isAgreed).length;
  return `# OpenAPI coverage

What Ringback does with ${results.length} OpenAPI documents of other projects, as they were published. The documents are not part of
this repository: this page has only their titles and the results. \`npm run coverage -- FOLDER\` runs all documents of a folder
and writes it.

Each document is checked with \`ringback check\` and served alone. Each operation with callbacks gets the sample request that
Ringback generates for it. Then an event is published to each callback, and a receiver records what arrives and where. In the
end the subscription is ended by the operation of the document, or by the receiver's status 410 where the document has none.

- **Verdict**: \`ringback check\` and the start of a service agree on ${agreed} of ${results.length} documents.
- **Operations**: ${run.length} of ${operations.length} operations with callbacks run from end to end. \`ringback check\` names ${unable} that cannot run,
  with the reason: the document does not say where to call, or no request can satisfy its security. A fixed URL
  of the document that does not resolve in this test stops ${idle.length - unable}. \`check\` also names ${run.filter(isUnable).length} that run here, because the sample
  request has the callback URL in a property that the document does not declare ([0039](${decision})).
- **Responses**: ${matching} of ${answers.length} 2xx responses match the schema that the document declares, as judged by
  [ajv](https://ajv.js.org). \`ringback check\` warns of ${answers.filter(isNamed).length} of the other ${answers.length - matching}: they require a property that nothing
  determines, or they declare no JSON.
- **CPU time**: the slowest \`ringback check\` takes ${Math.max(...cpuSeconds).toFixed(1)} s, with the start of the program (${machine}).

${coverageTable(results, cpuSeconds).join('\n')}

${without} more documents declare no callbacks; they are checked and served, too.

| column | meaning |
|---|---|
| exit | of \`ringback check\`: 1 if an operation cannot run |
| operations | those with callbacks |
| run | those that subscribed, called every callback that the request has a URL for, and unsubscribed |
| callbacks | how many were received, at the URL that the document says, with the declared media type and a valid payload |
| unsubscribe | subscriptions ended by an operation of the document |
| 410 | subscriptions ended by the receiver's status |
| 2xx | responses to subscribe and unsubscribe requests, and to subscribe requests without an optional URL |
| match | those that match their schema |
| named | those that do not match, and that \`ringback check\` warns of |
`;
}

/** A row for each document that has callbacks. */
export function coverageTable(
  results: readonly DocumentResult[],
  cpuSeconds: readonly number[],
): string[] {
  const columns = [
    'document',
    'OpenAPI',
    'exit',
    'operations',
    'run',
    'callbacks',
    'unsubscribe',
    '410',
    '2xx',
    'match',
    'named',
    'CPU s',
  ];
  const head = [`| ${columns.join(' | ')} |`, `|${'---|'.repeat(columns.length)}`];
  const names = namesOf(results);
  const rows = results.flatMap(({ openapi, check, operations }, at) => {
    if (operations.length === 0) return [];
    const run = operations.filter(isRun);
    const byStatus = run.filter(({ end }) => end === '410').length;
    const answers = operations.flatMap((one) => one.answers);
    const cells = [
      names[at],
      openapi,
      check.code,
      operations.length,
      run.length,
      run.flatMap(({ callbacks }) => callbacks).length,
      run.length - byStatus,
      byStatus,
      answers.length,
      answers.filter(fits).length,
      answers.filter(isNamed).length,
      (cpuSeconds[at] ?? 0).toFixed(1),
    ];
    return [`| ${cells.join(' | ')} |`];
  });
  return [...head, ...rows];
}

function isRun({ callbacks }: OperationResult): boolean {
  return callbacks.length > 0;
}

function isUnable(operation: OperationResult): boolean {
  return operation.isUnable;
}

function isAgreed({ check, serve }: DocumentResult): boolean {
  const said = [check.refusal, check.cannotRun];
  return JSON.stringify(said) === JSON.stringify([serve.refusal, serve.cannotRun]);
}

function fits({ misfits }: JudgedAnswer): boolean {
  return misfits.length === 0;
}

function isNamed(answer: JudgedAnswer): boolean {
  return answer.isNamed;
}

/** Titles, numbered where several documents have the same; a document without one has its file's name. */
function namesOf(results: readonly DocumentResult[]): string[] {
  const seen = new Map<string, number>();
  return results.map(({ title, operations }) => {
    if (operations.length === 0) return title;
    const name = /\.(?:ya?ml|json)$/u.test(title) ? 'Untitled' : title;
    const number = (seen.get(name) ?? 0) + 1;
    seen.set(name, number);
    return number === 1 ? name : `${name} (${number})`;
  });
}
