// The webhooks of a document: the events that its API publishes, each with its payload and an example. Ringback's own
// operations subscribe to them, and list the event types that apps declare, which a public page cannot show.
import type { Webhook } from '../../contract/model/contract.ts';
import { reportWebhook } from '../../contract/report/report.ts';
import { answers, payloadView } from './callbacks.ts';
import { type Fragment, type Html, html } from './html.ts';
import { prose } from './prose.ts';
import { printJson } from './value.ts';
import {
  type OwnOperation,
  type OwnOperations,
  type View,
  entriesOf,
  objectAt,
  textIn,
} from './view.ts';

/** Undefined if the contract has no webhooks, and apps cannot declare event types for it. */
export function webhooksSection(
  view: View,
  webhooks: readonly Webhook[],
  own: OwnOperations | undefined,
): Html | undefined {
  if (webhooks.length === 0) return own?.isHere === true ? declaredSection(own) : undefined;
  return html`<section class="group" aria-labelledby="webhooks">
    <div class="group-head">
      <h2 id="webhooks">Webhooks</h2>
      <div class="prose">
        <p>Events that this API sends to its subscribers. ${own && subscribing(own)}</p>
        ${own && declaredNote(own)}
      </div>
    </div>
    ${webhooks.map((webhook) => webhookView(view, webhook))}
    <p class="back"><a href="#contents">Back to contents</a></p>
  </section>`;
}

/** The name that the table of contents shows. */
export function webhookTitle(view: View, webhook: Webhook): string {
  return textIn(writtenWebhook(view, webhook), 'summary') ?? webhook.event;
}

function declaredSection(own: OwnOperations): Html {
  return html`<section class="group" aria-labelledby="event-types">
    <div class="group-head">
      <h2 id="event-types">Event types</h2>
      <div class="prose">${declaredNote(own)}</div>
    </div>
  </section>`;
}

function subscribing(own: OwnOperations): Fragment {
  return html`Subscribe with ${linkTo(own, own.subscribe)}, and give the URL to call and the events
  to receive.`;
}

function declaredNote(own: OwnOperations): Html {
  return html`<p>
    Each app can declare event types of its own. They are not public, so this page does not show
    them. ${linkTo(own, own.list)} lists them with their schemas, for a key with the scope
    <code>read</code>.
  </p>`;
}

function linkTo({ title, isHere }: OwnOperations, { route, anchor }: OwnOperation): Html {
  const page = isHere ? '' : `?${new URLSearchParams({ contract: title }).toString()}`;
  return html`<a href="${page}#${anchor}"><code>${route}</code></a>`;
}

function webhookView(view: View, webhook: Webhook): Html {
  const { event, payload } = webhook;
  const written = writtenWebhook(view, webhook);
  const report = reportWebhook(webhook, view.work.responses);
  const title = webhookTitle(view, webhook);
  const anchor = view.webhookAnchors.get(event);
  const responses = entriesOf(objectAt(view.root, written['responses'])).map(([status]) => status);
  const statuses = responses.filter((status) => status.startsWith('2'));
  return html`<article class="operation" id="${anchor}" aria-labelledby="${anchor}-title">
    <div class="split">
      <div class="split-main">
        <h3 id="${anchor}-title"><a href="#${anchor}">${title}</a></h3>
        <p class="route"><span class="method">event</span> <code class="path">${event}</code></p>
        ${report.state === 'deprecated' ? deprecated : undefined}
        ${prose(report.description === title ? undefined : report.description)}
      </div>
      <div class="split-side">${payload && exampleView(report.payload)}</div>
      <div class="split-main">
        <ol class="flow">
          <li>
            <span class="step">Ringback sends</span>
            <span class="method">POST</span> to the URL that you subscribed with
          </li>
          <li>
            <span class="step">With this payload</span>
            ${payloadView(view, written, webhook)}
          </li>
          <li>
            <span class="step">Your receiver responds</span>
            ${answers(view, written, { statuses, unsubscribeStatus: 410, isFinal: false })}
          </li>
        </ol>
      </div>
    </div>
  </article>`;
}

const deprecated = html`<p class="notice">
  <strong>Deprecated.</strong> It may still be sent, but do not use it in new code.
</p>`;

function exampleView(payload: ReturnType<typeof reportWebhook>['payload']): Fragment {
  if (payload.kind === 'none') return undefined;
  return html`<div class="example">
    <figure>
      <figcaption>Example payload</figcaption>
      <pre><code>${printJson(payload.value)}</code></pre>
    </figure>
  </div>`;
}

/** As written in the document; empty if it is in another file. */
function writtenWebhook(view: View, { key, method }: Webhook): ReturnType<typeof objectAt> {
  return objectAt(view.root, view.root['webhooks'], key, method.toLowerCase());
}
