// The reference page: static HTML from a loaded contract. No scripts and no external requests; text
// from the document is always shown as text.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join as joinPath } from 'node:path';
import { type Warning, isObject } from '../../contract/document/document.ts';
import type { Contract, Operation } from '../../contract/model/contract.ts';
import { contractWork } from '../../contract/sample/sample.ts';
import { version } from '../../core/base/package.ts';
import { problems } from '../../core/errors/problem.ts';
import {
  bounds,
  type View,
  freeAnchor,
  newMeter,
  operationAnchors,
  slug,
  listIn,
  objectAt,
  summaryOf,
  tagOf,
  textIn,
  writtenOperations,
} from './view.ts';
import { type Fragment, type Html, html, join, printHtml, styleTag } from './html.ts';
import { operationView, findProblemRef, securitySection } from './operation.ts';
import { externalLink, inline, prose } from './prose.ts';
import { schemaView } from './schema.ts';

export interface DocsPage {
  html: string;
  contentSecurityPolicy: string;
}

/**
 * Read at startup, together with the code: a page may be rendered long after an upgrade replaced
 * the file.
 */
const style = readFileSync(joinPath(import.meta.dirname, 'page.css'), 'utf8');

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

// Groups operations by tag, in the order of the tags of the document, then of appearance.

export interface Group {
  title: string;
  anchor: string;
  description: string | undefined;
  operations: readonly Operation[];
}

export function groupByTag(view: View, operations: readonly Operation[]): readonly Group[] {
  const declared = listIn(view.root, 'tags').filter(isObject);
  const descriptions = new Map<string | undefined, string | undefined>(
    declared.map((tag) => [textIn(tag, 'name'), textIn(tag, 'description')]),
  );
  const members = new Map<string | undefined, Operation[]>();
  for (const tag of descriptions.keys()) members.set(tag, []);
  for (const operation of operations) {
    const tag = tagOf(view.written(operation));
    members.set(tag, [...(members.get(tag) ?? []), operation]);
  }
  const taken = new Set<string>();
  const filled = [...members].filter(([, list]) => list.length > 0);
  const hasTags = filled.some(([tag]) => tag !== undefined);
  return filled.map(([tag, list]) => ({
    title: tag ?? (hasTags ? 'Other operations' : 'Operations'),
    anchor: freeAnchor(`tag-${slug(tag ?? 'operations')}`, taken),
    description: descriptions.get(tag),
    operations: list,
  }));
}

// The top of the page: title, the three steps of the flow, and the warnings about the document.

function introductionView(view: View, contract: Contract): Html {
  const info = objectAt(view.root, view.root['info']);
  const documentVersion = versionOf(info);
  return html`<header class="introduction" id="introduction">
    <p class="kicker">API reference</p>
    <h1>${contract.title}</h1>
    <p class="meta">
      ${documentVersion === undefined ? undefined : html`<span>Version ${documentVersion}</span>`}
      <a href="openapi.json">openapi.json</a>
      <a href="openapi.yaml">openapi.yaml</a>
      ${license(objectAt(view.root, info['license']))}
    </p>
    ${prose(textIn(info, 'description'))} ${stepsView(view, contract.operations)}
  </header>`;
}

/** Deliberately unalarming: the document runs, and these are possible improvements. */
function warningsView(warnings: readonly Warning[]): Fragment {
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
  const number = info['version'];
  return typeof number === 'number' ? String(number) : textIn(info, 'version');
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
