// docs/failures.md, made from the catalogue in src/core/failures.ts.
import { attemptErrors } from '../src/core/attempt.ts';
import { endings, failures, statusFailures, type Failure } from '../src/core/failures.ts';

export function failuresPage(): string {
  const errors = attemptErrors.map((name) => row(name, failures[name]));
  const ends = endings.map((name) => row(name, failures[name]));
  const statuses = Object.entries(statusFailures).map(([status, failure]) => row(status, failure));
  return `# Failures

Why a callback did not arrive, and what to do about it. The console shows the same sentences. What the API
itself answers to its callers is in [errors.md](errors.md).

## Errors of an attempt

The field \`error\` of an attempt, and of a delivery whose last attempt failed. Each is tried again until
the schedule is used up.

${table(errors)}

## How a delivery ended

\`expired\` stands in the field \`error\` of a dead delivery; the others show by its state: dead after all
attempts failed (\`exhausted\`), cancelled by a receiver that wants no more (\`gone\`), or cancelled because
the subscription ended.

${table(ends)}

## Statuses

With the error \`status\`, the receiver's HTTP status says more.

${table(statuses)}

This page is made by \`npm run docs\` from \`src/core/failures.ts\`.
`;
}

function table(rows: readonly string[]): string {
  const head = '| | title | what happened | for the receiver | for the operator |';
  return [head, '|---|---|---|---|---|', ...rows].join('\n');
}

/** A title that begins with the status need not say it twice. */
function row(name: string, { title, happened, receiver, operator }: Failure): string {
  const short = title.replace(/^\d{3}: /, '');
  const cells = [`\`${name}\``, short, happened, receiver, operator];
  return `| ${cells.join(' | ')} |`;
}
