import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { printHtml } from './html.ts';
import { prose } from './prose.ts';

function render(text: string): string {
  return printHtml(prose(text))
    .replace(/^<div class="prose">/, '')
    .replace(/<\/div>$/, '')
    .replaceAll(/>\s+<(?=\/?(?:ul|ol|li|p|pre)\b)/g, '><')
    .trim();
}

describe('prose', () => {
  it('renders nothing for no text', () => {
    assert.equal(prose(undefined), undefined);
    assert.equal(prose(' \n '), undefined);
  });

  it('renders paragraphs, code, bold and emphasis', () => {
    assert.equal(
      render('One `a < b`\ntwo.\n\n**Three** *four*.'),
      '<p>One <code>a &#60; b</code>\ntwo.</p><p><strong>Three</strong> <em>four</em>.</p>',
    );
  });

  it('renders lists, wrapped lines and nested ones', () => {
    assert.equal(
      render('- one\n  goes on\n- two\n  - inner\n\nAfter.'),
      '<ul><li>one\ngoes on</li><li>two<ul><li>inner</li></ul></li></ul><p>After.</p>',
    );
    assert.equal(render('1. one\n2. two'), '<ol><li>one</li><li>two</li></ol>');
  });

  it('renders fenced code, also where it is never closed', () => {
    assert.equal(render('```json\n{"a": 1}\n```'), '<pre><code>{&#34;a&#34;: 1}</code></pre>');
    assert.equal(render('~~~\n<b>'), '<pre><code>&#60;b&#62;</code></pre>');
  });

  it('renders headings as bold lines: the outline is ours', () => {
    assert.equal(render('# Title #'), '<p class="heading"><strong>Title</strong></p>');
  });

  it('links to http and https only, and without a referrer', () => {
    assert.equal(
      render('[here](https://a.example/?x="1")'),
      '<p><a href="https://a.example/?x=%221%22" rel="noreferrer">here</a></p>',
    );
    for (const text of [
      '[x](javascript:alert(1))',
      '[x](JaVaScRiPt:alert(1))',
      '[x](data:text/html,x)',
      '[x](//evil.example)',
      '[x](/docs)',
      '<javascript:alert(1)>',
      '[x](https://)',
    ]) {
      assert.doesNotMatch(render(text), /<a /, text);
      assert.ok(render(text).includes('x') || render(text).includes('alert'), text);
    }
  });

  it('shows the text of an image instead of loading it', () => {
    const to = 'href="https://a.example/" rel="noreferrer"';
    assert.equal(
      render('[![Run](https://b.example/x.svg)](https://a.example/)'),
      `<p><a ${to}>Run</a></p>`,
    );
    assert.equal(render('![Map](https://a.example/)'), `<p><a ${to}>Map</a></p>`);
  });

  it('shows HTML as text', () => {
    const printed = render('<img src=x onerror=alert(1)> <!-- x --> **<b>**');
    assert.doesNotMatch(printed, /<(?:img|b|!)/);
    assert.match(printed, /&#60;img src=x onerror=alert\(1\)&#62;/);
  });

  it('keeps what is not understood as text', () => {
    assert.equal(render('a * b ** c ` d [e](f'), '<p>a * b ** c &#96; d [e](f</p>');
    assert.equal(render(String.raw`\*not\*`), '<p>*not*</p>');
    assert.equal(render('2 * 3 * 4'), '<p>2 * 3 * 4</p>');
  });

  it('ends in good time for text made to be slow', () => {
    for (const piece of [
      '[',
      '`a``b',
      '**a ',
      '`',
      '*',
      '**',
      '- ',
      '> ',
      '\\',
      '[a](',
      '[![',
      '*a',
      '<h',
      '| ',
    ]) {
      const text = piece.repeat(20_000);
      assert.ok(render(text).length > 0);
      assert.ok(render(text.replaceAll(' ', ' \n')).length > 0);
    }
  });

  it('cuts what is too long', () => {
    assert.ok(render('word '.repeat(100_000)).length < 30_000);
  });
});
