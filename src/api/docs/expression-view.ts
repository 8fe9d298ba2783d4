// Renders runtime expressions so that they stand out from literal text.
import { parseTemplate } from '../../contract/expression/template.ts';
import { printExpression } from '../../contract/expression/expression.ts';
import type { Expression } from '../../contract/expression/expression.ts';
import type { Template } from '../../contract/expression/template.ts';
import { html } from './html.ts';
import type { Fragment, Html } from './html.ts';

export function expressionView(expression: Expression): Html {
  return html`<code class="expression">${printExpression(expression)}</code>`;
}

/** `{$request.query.url}?event={$request.query.event}`, in braces as in the key. */
export function templateView(template: Template): Html {
  const parts = template.map((part): Fragment =>
    part.kind === 'text'
      ? part.text
      : html`<span class="expression">{${printExpression(part.expression)}}</span>`,
  );
  return html`<code class="template">${parts}</code>`;
}

/** Text of the document that may be an expression, such as the value of a link parameter. */
export function sourceView(text: string): Html {
  const parsed = parseTemplate(text);
  const isExpression =
    parsed.kind === 'parsed' && parsed.template.some(({ kind }) => kind === 'expression');
  return isExpression ? html`<code class="expression">${text}</code>` : html`<code>${text}</code>`;
}

/** `/subscriptions/{id}` with its parameters highlighted. */
export function pathView(path: string): Html {
  const parts = path
    .split(/(\{[^{}]*\})/u)
    .map((part, index): Fragment => (index % 2 === 0 ? part : html`<var>${part}</var>`));
  return html`<code class="path">${parts}</code>`;
}
