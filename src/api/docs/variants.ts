// The variants of a subscribe operation: what each requires, returns and registers.
import type { Link, Operation, Variant } from '../../contract/model/contract.ts';
import { callbackView } from './callbacks.ts';
import { exampleView } from './example-view.ts';
import { expressionView } from './expression-view.ts';
import { html, join } from './html.ts';
import type { Fragment, Html } from './html.ts';
import { printValue } from './value.ts';
import { slug } from './view.ts';
import type { View } from './view.ts';

export function variantsView(
  view: View,
  operation: Operation,
  variants: readonly Variant[],
): Fragment {
  return [
    html`<section class="variants">
      <h4>Variants</h4>
      <p>A request uses exactly one variant, selected by its content.</p>
      ${variantTable(view, operation, variants)}
    </section>`,
    variants.map(
      (variant) => html`<div class="split variant">
        <div class="split-main">${variantView(view, operation, variant)}</div>
        <div class="split-side">${exampleView(view, operation, variant)}</div>
      </div>`,
    ),
  ];
}

/** One variant without its example. An operation without variants has a single unnamed one. */
export function variantView(view: View, operation: Operation, variant: Variant): Html {
  const { name, callbacks, answer } = variant;
  const head =
    name === ''
      ? html`<h4>Callbacks</h4>`
      : html`<h4 id="${variantAnchor(view, operation, variant)}">Variant <code>${name}</code></h4>
          <p>
            Requires ${needsWords(variant)}. Responds with
            <span class="status">${answer.status}</span>.
          </p>`;
  const links = answer.links.map(
    (link) => html`<li><span class="words">Link</span> ${linkWords(view, link)}</li>`,
  );
  const list = html`<ul class="links">
    ${links}
  </ul>`;
  return html`<section>
    ${head} ${callbacks.map((callback) => callbackView(view, operation, callback))}
    ${links.length === 0 ? undefined : list}
  </section>`;
}

function variantAnchor(view: View, { operationId }: Operation, { name }: Variant): string {
  return `${view.anchors.get(operationId) ?? ''}-variant-${slug(name)}`;
}

function variantTable(view: View, operation: Operation, variants: readonly Variant[]): Html {
  const rows = variants.map(
    (variant) => html`<tr>
      <th scope="row">
        <a href="#${variantAnchor(view, operation, variant)}"><code>${variant.name}</code></a>
      </th>
      <td>${needsWords(variant)}</td>
      <td><span class="status">${variant.answer.status}</span></td>
    </tr>`,
  );
  return html`<table>
    <thead>
      <tr>
        <th scope="col">Variant</th>
        <th scope="col">Required in the request</th>
        <th scope="col">Response</th>
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`;
}

function needsWords({ needs, needsAny }: Variant): Fragment {
  const all = join(needs.map(expressionView), ' and ');
  if (needsAny.length === 0) return all;
  const any = html`any of ${join(needsAny.map(expressionView), ', ')}`;
  return needs.length === 0 ? any : [all, ' and ', any];
}

/** `subscriberId` of the response → `Id` of `unsubscribeOperation`. */
function linkWords(view: View, link: Link): Html {
  const anchor = view.anchors.get(link.operationId);
  const name = html`<code>${link.operationId}</code>`;
  const target = anchor === undefined ? name : html`<a href="#${anchor}">${name}</a>`;
  const handed = [...link.parameters].map(([parameter, source]): Fragment => {
    const from =
      source.kind === 'constant'
        ? html`<code>${printValue(source.value)}</code>`
        : expressionView(source);
    return html`${from} <span class="arrow">→</span> <code>${parameter}</code>`;
  });
  return html`${join(handed, ', ')} of ${target}`;
}
