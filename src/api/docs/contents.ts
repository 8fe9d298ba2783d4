// The table of contents. It appears twice: beside the page and, collapsed, on top of it for phones.
// The style sheet hides one of them, because collapsing by width would need a script.
import type { Group } from './groups.ts';
import { html } from './html.ts';
import type { Fragment, Html } from './html.ts';
import type { View } from './view.ts';
import { summaryOf } from './written.ts';

export interface Sections {
  groups: readonly Group[];
  /** Anchor and title of the sections that exist. */
  before: readonly (readonly [string, string])[];
  after: readonly (readonly [string, string])[];
}

export function contentsView(view: View, { groups, before, after }: Sections): Html {
  return html`<ul class="contents">
    ${before.map(sectionItem)}
    ${groups.map(
      ({ title, anchor, operations }) => html`<li>
        <a class="contents-group" href="#${anchor}">${title}</a>
        <ul>
          ${operations.map((operation): Fragment => {
            const name = summaryOf(operation, view.written(operation));
            const target = view.anchors.get(operation.operationId);
            return html`<li>
              <a href="#${target}">
                <span class="contents-name">${name}</span>
                <span class="contents-method">${operation.method}</span>
              </a>
            </li>`;
          })}
        </ul>
      </li>`,
    )}
    ${after.map(sectionItem)}
  </ul>`;
}

function sectionItem([anchor, title]: readonly [string, string]): Html {
  return html`<li><a class="contents-group" href="#${anchor}">${title}</a></li>`;
}
