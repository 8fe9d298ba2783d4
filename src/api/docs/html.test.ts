import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { html, join, printHtml, styleTag } from './html.ts';

describe('html', () => {
  it('escapes text between tags and in attributes', () => {
    const hostile = `<script>alert("1")</script>' onload='x' \`&amp;`;
    const printed = printHtml(html`<p title="${hostile}">${hostile}</p>`);
    assert.doesNotMatch(printed, /<script|"1"|onload='/);
    assert.equal(printed.match(/</g)?.length, 2);
    assert.equal(printed.match(/"/g)?.length, 2);
    assert.match(printed, /&#38;amp;/);
  });

  it('keeps its own markup, lists of it, numbers, and nothing for undefined', () => {
    const items = ['a<b', 'c'].map((text) => html`<li>${text}</li>`);
    const printed = printHtml(
      html`<ul>
          ${items}${undefined}
        </ul>
        ${7}`,
    );
    assert.equal(printed.replaceAll(/\s/g, ''), '<ul><li>a&#60;b</li><li>c</li></ul>7');
  });

  it('puts a separator between, not around', () => {
    assert.equal(printHtml(join(['a', 'b', 'c'], ', ')), 'a, b, c');
  });
});

describe('styleTag', () => {
  it('refuses a style sheet that would close its tag', () => {
    assert.throws(() => styleTag('a{}</style><script>'), /Cannot embed/);
  });
});
