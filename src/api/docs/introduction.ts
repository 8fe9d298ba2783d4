// The top of the page: title, the three steps of the flow, and the warnings about the document.
import type { Warning } from '../../contract/document/document.ts';
import type { Contract, Operation } from '../../contract/model/contract.ts';
import { bounds } from './bounds.ts';
import { html, join, type Fragment, type Html } from './html.ts';
import { externalLink } from './inline.ts';
import { prose } from './prose.ts';
import type { View } from './view.ts';
import { objectAt, textIn } from './written.ts';

export function introductionView(view: View, contract: Contract): Html {
  const info = objectAt(view.root, view.root['info']);
  const version = versionOf(info);
  return html`<header class="introduction" id="introduction">
    <p class="kicker">API reference</p>
    <h1>${contract.title}</h1>
    <p class="meta">
      ${version === undefined ? undefined : html`<span>Version ${version}</span>`}
      <a href="/openapi.json">openapi.json</a>
      <a href="/openapi.yaml">openapi.yaml</a>
      ${license(objectAt(view.root, info['license']))}
    </p>
    ${prose(textIn(info, 'description'))} ${stepsView(view, contract.operations)}
  </header>`;
}

/** Deliberately unalarming: the document runs, and these are possible improvements. */
export function warningsView(warnings: readonly Warning[]): Fragment {
  if (warnings.length === 0) return undefined;
  const shown = warnings.slice(0, bounds.warningsMax).map(
    ({ pointer, message }) => html`<li>
      <code>${pointer}</code>
      <p>${message}</p>
    </li>`,
  );
  const more = warnings.length - shown.length;
  const list = html`<ul>
    ${shown}${more > 0 ? html`<li>And ${more} more.</li>` : undefined}
  </ul>`;
  const count = warnings.length === 1 ? 'One note' : `${warnings.length} notes`;
  return html`<section class="notice" id="notes" aria-labelledby="notes-title">
    <h2 id="notes-title">${count} on this document</h2>
    <p>The document is executed. These parts were repaired, ignored, or cannot work as written.</p>
    ${
      warnings.length <= bounds.warningsOpenMax
        ? list
        : html`<details>
            <summary>Show notes</summary>
            ${list}
          </details>`
    }
  </section>`;
}

/** YAML may contain the version as a number. */
function versionOf(info: Readonly<Record<string, unknown>>): string | undefined {
  const { version } = info;
  return typeof version === 'number' ? String(version) : textIn(info, 'version');
}

function license(written: Readonly<Record<string, unknown>>): Fragment {
  const name = textIn(written, 'name');
  if (name === undefined) return undefined;
  return externalLink(name, textIn(written, 'url') ?? '') ?? html`<span>${name}</span>`;
}

function stepsView(view: View, operations: readonly Operation[]): Fragment {
  const subscribes = operations.filter(({ role }) => role.kind === 'subscribe');
  if (subscribes.length === 0) return undefined;
  const [first] = subscribes;
  const routes = subscribes.length <= 3 ? subscribes : [first].filter((one) => one !== undefined);
  const links = routes.map((operation) => operationLink(view, operation));
  const more = subscribes.length - links.length;
  return html`<ol class="steps" aria-label="How it works">
    <li>
      <p class="step-title">You subscribe</p>
      <p>
        with ${join(links, ' or ')}${more > 0 ? ` and ${more} others` : undefined}, and give the URL
        to call.
      </p>
    </li>
    <li>
      <p class="step-title">An event is published</p>
      <p>Its name matches one of your callbacks.</p>
    </li>
    <li>
      <p class="step-title">Ringback calls your URL</p>
      <p>and retries until your receiver responds with <span class="status">2xx</span>.</p>
    </li>
  </ol>`;
}

function operationLink(view: View, { operationId, method, path }: Operation): Html {
  return html`<a href="#${view.anchors.get(operationId)}"><code>${method} ${path}</code></a>`;
}
