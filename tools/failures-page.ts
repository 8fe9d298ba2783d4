// docs/failures.md, made from the catalogue in src/core/failures.ts.
import { attemptErrors } from '../src/core/attempt.ts';
import { endings, failures, statusFailures, type Failure } from '../src/core/failures.ts';

export function failuresPage(): string {
  const errors = attemptErrors.map((name) => row(name, failures[name]));
  const ends = endings.map((name) => row(name, failures[name]));
  const statuses = Object.entries(statusFailures).map(([status, failure]) => row(status, failure));
  return `# Failures

Why a callback was not delivered, and what to do about it. The console shows the same texts. For the errors of
the API itself, see [errors.md](errors.md).

## Errors of an attempt

The field \`error\` of an attempt, and of a delivery whose last attempt failed. Each of these is retried until
the retry schedule is used up.

${table(errors)}

## How a delivery ended

\`expired\` is a value of the field \`error\` of a dead-lettered delivery. The others show in its state: dead after
all attempts failed (\`exhausted\`), cancelled because the receiver unsubscribed (\`gone\`), or cancelled because
the subscription ended.

${table(ends)}

## Statuses

For the error \`status\`, the HTTP status of the response tells more.

${table(statuses)}

This page is generated from \`src/core/failures.ts\` by \`npm run docs\`.
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
