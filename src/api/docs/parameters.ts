// The parameters of an operation as a table.
import type { Operation, Parameter } from '../../contract/model/contract.ts';
import { own } from '../../contract/document/document.ts';
import type { JsonObject } from '../../contract/document/document.ts';
import { html } from './html.ts';
import type { Fragment, Html } from './html.ts';
import { about, schemaView } from './schema-view.ts';
import { factsOf } from './schema.ts';
import { compiledSchema } from './view.ts';
import type { View } from './view.ts';
import { entriesOf, objectAt, parameterKey, textIn, writtenParameters } from './written.ts';

export function parametersView(view: View, operation: Operation): Fragment {
  const { parameters, role } = operation;
  if (parameters.length === 0) return undefined;
  const found = view.written(operation);
  const written = found === undefined ? undefined : writtenParameters(view.root, found);
  const rows = parameters.map((parameter) => {
    const here = written?.get(parameterKey(parameter)) ?? {};
    const schema = writtenSchema(view, here);
    if (schema !== undefined || parameter.schema === undefined || role.kind === 'managed') {
      return parameterRow({ view, parameter, written: here, schema });
    }
    return parameterRow({ ...compiledSchema(view, parameter.schema), parameter, written: here });
  });
  return html`<section>
    <h4>Parameters</h4>
    <table class="pairs">
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Description</th>
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </section>`;
}

function writtenSchema({ root }: View, written: JsonObject): unknown {
  const [content] = entriesOf(objectAt(root, written['content']));
  return written['schema'] ?? objectAt(root, content?.[1])['schema'];
}

interface Row {
  view: View;
  parameter: Parameter;
  written: JsonObject;
  schema: unknown;
}

function parameterRow({ view, parameter, written, schema }: Row): Html {
  const facts = factsOf(view.root, schema);
  const example = own(written, 'example');
  const shown = example === undefined ? facts : { ...facts, examples: [example] };
  const type = schema === undefined ? undefined : html`<span class="type">${facts.type}</span> `;
  const required = parameter.required ? html`<span class="required">required</span>` : undefined;
  const isNested = facts.properties.length > 0 || facts.branches.length > 0;
  return html`<tr>
    <th scope="row">
      <code class="name">${parameter.name}</code>
      <span class="place">${parameter.in}</span>
    </th>
    <td>
      <p class="property">${type}${required}</p>
      ${about(shown, textIn(written, 'description') ?? facts.description)}
      ${isNested ? schemaView(view, schema) : undefined}
    </td>
  </tr>`;
}
