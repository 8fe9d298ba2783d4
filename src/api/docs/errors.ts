// The errors section. Every problem links to its code, so each code is an anchor.
import { problems } from '../../core/errors/problem.ts';
import { html } from './html.ts';
import type { Html } from './html.ts';
import { inline } from './inline.ts';
import { schemaView } from './schema-view.ts';
import type { View } from './view.ts';

export function errorsSection(view: View): Html {
  const rows = Object.entries(problems).map(
    ([code, { status, title, remedy }]) => html`<tr id="${code}">
      <th scope="row">
        <a href="#${code}"><code>${code}</code></a> <span class="status">${status}</span>
      </th>
      <td>
        <p class="error-title">${title}.</p>
        <p class="remedy">${inline(remedy)}</p>
      </td>
    </tr>`,
  );
  const { problemRef } = view;
  const schema =
    problemRef === undefined
      ? undefined
      : html`<details class="error-body">
          <summary>Error body</summary>
          ${schemaView(view, { $ref: problemRef })}
        </details>`;
  return html`<section id="errors" aria-labelledby="errors-title">
    <h2 id="errors-title">Errors</h2>
    <p>
      Every error response is <code>application/problem+json</code> (RFC 9457). <code>code</code> is
      stable and meant for programs; <code>detail</code> is meant for people; <code>errors</code>
      lists each invalid field.
    </p>
    ${schema}
    <table class="pairs">
      <thead>
        <tr>
          <th scope="col">Code</th>
          <th scope="col">Meaning and remedy</th>
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </section>`;
}
