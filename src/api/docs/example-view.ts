// The example of an operation: the request as a command, and a possible response.
import type { Operation, Variant } from '../../contract/model/contract.ts';
import { isJson } from '../../contract/model/media.ts';
import { curl } from './curl.ts';
import { jsonFirst, mediaSamples } from './example-body.ts';
import { html } from './html.ts';
import type { Fragment, Html } from './html.ts';
import { printJson } from './value.ts';
import type { View } from './view.ts';
import { entriesOf, objectAt } from './written.ts';

export function exampleView(view: View, operation: Operation, variant?: Variant): Html {
  const isOnly = variant === undefined || variant.name === '';
  const title = isOnly ? 'Example' : html`Example, variant <code>${variant.name}</code>`;
  return html`<div class="example">
    <figure>
      <figcaption>${title}</figcaption>
      <pre class="command"><code>${curl(view, operation, variant)}</code></pre>
    </figure>
    ${responseExample(view, operation, variant)}
  </div>`;
}

function responseExample(view: View, operation: Operation, variant: Variant | undefined): Fragment {
  const written = view.written(operation)?.operation;
  const responses = entriesOf(objectAt(view.root, written?.['responses']));
  const wanted = variant === undefined ? undefined : String(variant.answer.status);
  const successes = responses
    .filter(([status]) => status.startsWith('2'))
    .toSorted(([a], [b]) => a.localeCompare(b));
  const [status, response] = successes.find(([one]) => one === wanted) ?? successes[0] ?? [];
  if (status === undefined) return undefined;
  const json = jsonFirst(objectAt(view.root, response, 'content'));
  if (json === undefined || !isJson(json[0])) return undefined;
  const [sample] = mediaSamples(view.root, objectAt(view.root, json[1]), 'response');
  if (sample === undefined) return undefined;
  return html`<figure>
    <figcaption>Response <span class="status">${status}</span></figcaption>
    <pre><code>${printJson(sample)}</code></pre>
  </figure>`;
}
