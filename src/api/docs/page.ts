// The reference page: static HTML from a loaded contract. No scripts and no external requests; text
// from the document is always shown as text.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Contract } from '../../contract/model/contract.ts';
import { contractWork } from '../../contract/sample/sample.ts';
import { version } from '../../core/base/version.ts';
import { problems } from '../../core/errors/problem.ts';
import { groupByTag, type Group } from './groups.ts';
import { html, printHtml, styleTag, type Fragment, type Html } from './html.ts';
import { inline } from './inline.ts';
import { introductionView, warningsView } from './introduction.ts';
import { operationView } from './operation.ts';
import { prose } from './prose.ts';
import { findProblemRef } from './responses.ts';
import { schemaView } from './schema-view.ts';
import { securitySection } from './security.ts';
import { newMeter, operationAnchors, type View } from './view.ts';
import { writtenOperations, summaryOf } from './written.ts';

export interface DocsPage {
  html: string;
  contentSecurityPolicy: string;
}

/**
 * Read at startup, together with the code: a page may be rendered long after an upgrade replaced
 * the file.
 */
const style = readFileSync(join(import.meta.dirname, 'page.css'), 'utf8');

/** `others`: titles of the other contracts of the service. */
export function docsPage(contract: Contract, others: readonly string[] = []): DocsPage {
  const hash = createHash('sha256').update(style).digest('base64');
  const directives = [
    "default-src 'none'",
    `style-src 'sha256-${hash}'`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    html: printHtml(pageView(contract, others)).trimStart(),
    contentSecurityPolicy: directives.join('; '),
  };
}

export function viewOf(contract: Contract): View {
  const written = writtenOperations(contract);
  const work = contractWork();
  const operations = [...written.values()].map(({ operation }) => operation);
  return {
    root: contract.document,
    meter: newMeter(),
    work: { requests: { left: work.left / 2 }, responses: { left: work.left / 2 } },
    anchors: operationAnchors(contract.operations),
    written: ({ operationId }) => written.get(operationId),
    problemRef: findProblemRef(contract.document, operations),
  };
}

function pageView(contract: Contract, others: readonly string[]): Html {
  const view = viewOf(contract);
  const groups = groupByTag(view, contract.operations);
  const security = securitySection(view);
  const contents = contentsView(view, sectionsOf(contract, { groups, security }));
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${contract.title}: API reference</title>
        ${styleTag(style)}
      </head>
      <body>
        <a class="skip" href="#content">Skip to content</a>
        <div class="page">
          <aside class="sidebar">
            <a class="brand" href="#introduction">${contract.title}</a>
            ${othersView(others)}
            <nav aria-label="Contents">${contents}</nav>
          </aside>
          <details class="menu" id="contents">
            <summary>Contents</summary>
            ${othersView(others)}
            <nav aria-label="Contents">${contents}</nav>
          </details>
          <main id="content" tabindex="-1">
            ${introductionView(view, contract)} ${warningsView(contract.warnings)}
            ${groups.map((group) => groupView(view, group))} ${security} ${errorsSection(view)}
            ${footer()}
          </main>
        </div>
      </body>
    </html> `;
}

/** Links to the pages of the other contracts of this service. */
function othersView(others: readonly string[]): Fragment {
  if (others.length === 0) return undefined;
  const links = others.map((title) => {
    const query = new URLSearchParams({ contract: title }).toString();
    return html`<li><a href="?${query}">${title}</a></li>`;
  });
  return html`<nav class="others" aria-label="Other contracts">
    <ul>
      ${links}
    </ul>
  </nav>`;
}

function sectionsOf(
  { warnings }: Contract,
  parts: { groups: readonly Group[]; security: Fragment },
): Sections {
  const notes = warnings.length === 0 ? [] : [['notes', 'Notes on this document'] as const];
  const keys = parts.security === undefined ? [] : [['security', 'Authentication'] as const];
  return {
    groups: parts.groups,
    before: [['introduction', 'Introduction'], ...notes],
    after: [...keys, ['errors', 'Errors']],
  };
}

function groupView(view: View, { title, anchor, description, operations }: Group): Html {
  return html`<section class="group" aria-labelledby="${anchor}">
    <div class="group-head">
      <h2 id="${anchor}">${title}</h2>
      ${prose(description)}
    </div>
    ${operations.map((operation) => operationView(view, operation))}
    <p class="back"><a href="#contents">Back to contents</a></p>
  </section>`;
}

function footer(): Html {
  return html`<footer>
    <p>Generated by Ringback ${version} from the document that it executes.</p>
  </footer>`;
}

// The table of contents. It appears twice: beside the page and, collapsed, on top of it for phones.
// The style sheet hides one of them, because collapsing by width would need a script.

interface Sections {
  groups: readonly Group[];
  /** Anchor and title of the sections that exist. */
  before: readonly (readonly [string, string])[];
  after: readonly (readonly [string, string])[];
}

function contentsView(view: View, { groups, before, after }: Sections): Html {
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

// The errors section. Every problem links to its code, so each code is an anchor.

function errorsSection(view: View): Html {
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
