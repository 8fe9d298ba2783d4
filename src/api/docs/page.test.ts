import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { compileContract } from '../../contract/compile/compile.ts';
import type { Contract } from '../../contract/model/contract.ts';
import { ContractError } from '../../contract/document/document.ts';
import { loadContract } from '../../contract/compile/load.ts';
import { problems } from '../../core/errors/problem.ts';
import { docsPage } from './page.ts';
import { ownOperations } from './view.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const own = await loadContract(join(root, 'openapi.yaml'));
const page = docsPage(own);

function made(more: object): Contract {
  return compileContract({
    path: 'made-up.yaml',
    root: { openapi: '3.0.4', info: { title: 'Made up', version: '1' }, paths: {}, ...more },
  });
}

/** The text that a reader sees, without tags. */
function textOf(html: string): string {
  return html
    .replaceAll(/<style>[^]*?<\/style>/g, '')
    .replaceAll(/<\/(?:p|div|li|td|dt|dd|h\d)>/g, ' ')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&#(\d+);/g, (_whole, code: string) => String.fromCodePoint(Number(code)))
    .replaceAll(/\s+/g, ' ');
}

const knownTags =
  /^(?:html|head|meta|title|body|a|div|aside|nav|details|summary|main|header|footer|section|article|h[1-4]|p|ul|ol|li|dl|dt|dd|table|thead|tbody|tr|th|td|figure|figcaption|pre|code|span|strong|em|var|blockquote)$/;
const knownAttributes =
  /^(?:lang|charset|name|content|class|id|href|rel|scope|tabindex|aria-label|aria-labelledby)$/;

/** Balanced tags, unique ids, links that lead somewhere, nothing active, nothing from elsewhere. */
function checkMarkup(html: string): void {
  assert.doesNotMatch(html, /<script/i);
  const open: string[] = [];
  const ids = new Set<string>();
  const targets: string[] = [];
  const content = html.replace(/<style>[^]*?<\/style>/, '').replace('<!doctype html>', '');
  for (const [, slash = '', tag = '', rest = ''] of content.matchAll(/<(\/?)([^\s>/]+)([^>]*)>/g)) {
    assert.match(tag, knownTags);
    if (slash === '/') assert.equal(open.pop(), tag);
    else if (tag !== 'meta') open.push(tag);
    for (const [, name = '', value = ''] of rest.matchAll(/([\w-]+)="([^"]*)"/g)) {
      assert.match(name, knownAttributes);
      if (name === 'id') assert.ok(!ids.has(value), `id ${value} is there once`);
      if (name === 'id') ids.add(value);
      if (name === 'href') checkHref(tag, value, targets);
    }
    assert.equal(rest.replaceAll(/\s+[\w-]+="[^"]*"|\s*\/$/g, '').trim(), '', `<${tag}${rest}>`);
  }
  assert.deepEqual(open, []);
  assert.doesNotMatch(content.replaceAll(/<\/?[a-z][^<>]*>/g, ''), /[<>]/);
  for (const target of targets) assert.ok(ids.has(target), `#${target} leads somewhere`);
}

function checkHref(tag: string, href: string, targets: string[]): void {
  assert.equal(tag, 'a');
  if (href.startsWith('#')) targets.push(href.slice(1));
  else assert.match(href, /^(?:https?:\/\/|\?contract=\w+#|openapi\.(?:json|yaml)$)/);
}

describe('docsPage', () => {
  it('is well-formed, without script and without requests to anywhere', () => {
    checkMarkup(page.html);
    assert.match(page.html, /^<!doctype html>\s*<html lang="en">/);
  });

  it('allows its one style sheet by its hash, and nothing else', () => {
    const [, style = ''] = /<style>([^]*?)<\/style>/.exec(page.html) ?? [];
    const hash = createHash('sha256').update(style).digest('base64');
    assert.equal(
      page.contentSecurityPolicy,
      `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; ` +
        "frame-ancestors 'none'",
    );
    assert.doesNotMatch(style, /@import|url\(|https?:/);
  });

  it('has an anchor for every operation, with its method and its path', () => {
    const text = textOf(page.html);
    for (const { operationId, method, path } of own.operations) {
      assert.ok(page.html.includes(` id="op-${operationId}"`), operationId);
      assert.ok(text.includes(`${method} ${path}`), `${method} ${path}`);
    }
  });

  it('has an anchor for every code, because problems link to it', () => {
    const text = textOf(page.html);
    for (const [code, { status, title }] of Object.entries(problems)) {
      assert.ok(page.html.includes(` id="${code}"`), code);
      assert.ok(text.includes(`${code} ${status} ${title}.`), title);
    }
  });

  it('shows what variants require and respond with', () => {
    const text = textOf(page.html);
    assert.match(
      text,
      /Variant body Requires the request body at \/callbackUrl\. Responds with 201\./,
    );
    assert.match(
      text,
      /Variant query Requires query parameter callbackUrl and query parameter event\. Responds with 201\./,
    );
    assert.match(
      text,
      /Variant multi Requires at least one of the request body at \/inProgressUrl, .*\. Responds with 200\./,
    );
  });

  it('shows callbacks with label, event, key, payload and responses', () => {
    const text = textOf(page.html);
    assert.match(
      text,
      /Callback myEvent Callback for the chosen event When this event happens \{\$request\.query\.event\} the event in query parameter event Ringback sends POST \{\$request\.query\.callbackUrl\}\?event=\{\$request\.query\.event\} With this payload application\/json object callbackMessage message string required/,
    );
    assert.match(text, /Callback inProgress Callback for failed When this event happens failed/);
    assert.match(text, /200 Delivered\. .* 410 Ends the subscription\. .* other Retried\./);
  });

  it('shows where the link of the answer leads', () => {
    assert.match(
      textOf(page.html),
      /Link \$response\.body#\/subscriberId → Id of unsubscribeOperation/,
    );
  });

  it('shows the authentication and scope of operations', async () => {
    const text = textOf(page.html);
    assert.match(
      text,
      /A key in header X-API-Key, or a key in query api_key, or a key in cookie X-API-KEY Scope/,
    );
    assert.match(text, /Authentication No key Operation/);
    assert.match(text, /Scope subscribe Operation/);
    const strict = await loadContract(join(root, 'openapi.yaml'), { requireAppId: true });
    assert.match(
      textOf(docsPage(strict).html),
      /A key in header X-API-Key and the app id in header X-APP-ID, or a key in query api_key and/,
    );
  });

  it('puts parts of a schema together, and tells limits in words', () => {
    const text = textOf(page.html);
    assert.match(text, /At least one of inProgressUrl, failedUrl, successUrl/);
    assert.match(text, /limit query integer Items per page\. 1 to 500 Default 50/);
    assert.match(text, /nextCursor string or null required/);
    assert.match(text, /items array of Subscription required/);
  });

  it('shows the warnings of a document', () => {
    const contract = made({
      info: { version: '1' },
      paths: {
        '/a': { post: { callbacks: { x: { '{nowhere}': { post: { responses: {} } } } } } },
      },
    });
    assert.ok(contract.warnings.length > 0);
    const text = textOf(docsPage(contract).html);
    for (const { message, pointer } of contract.warnings) {
      assert.ok(text.includes(pointer), pointer);
      assert.ok(text.includes(message.replaceAll(/\s+/g, ' ')), message);
    }
    assert.match(text, /Inactive\./);
  });
});

describe('docsPage of a contract that cannot run as written', () => {
  const contract = made({
    paths: {
      '/a': {
        post: {
          parameters: [{ name: 'url', in: 'query', schema: { type: 'string' } }],
          callbacks: {
            reachable: { '{$request.query.url}': { 'x-ringback-event': 'order.*', post: {} } },
            unreachable: { '{$request.query.other}': { post: {} } },
          },
        },
      },
      '/b': { post: { callbacks: { alone: { '{$request.query.other}': { post: {} } } } } },
    },
  });
  const text = textOf(docsPage(contract).html);

  it('says of a callback why it is never sent', () => {
    assert.match(
      text,
      /POST \{\$request\.query\.other\} +Inactive\. The request has no query parameter "other"/,
    );
    assert.match(text, /POST \{\$request\.query\.url\} +With this payload/);
  });

  it('says of a pattern which events it matches', () => {
    assert.match(text, /order\.\* every event whose name starts with "order\."/);
  });

  it('notes the operations that can do nothing', () => {
    assert.match(
      text,
      /POST \/b registers no callback: the request has no query parameter "other"/,
    );
    assert.doesNotMatch(text, /POST \/a registers no callback/);
  });
});

describe('docsPage of webhooks', () => {
  const service = { own: ownOperations(own) };
  const schema = {
    type: 'object',
    required: ['id'],
    properties: { id: { type: 'integer', description: 'Number of the order' } },
    examples: [{ id: 42 }],
  };
  const post = {
    summary: 'An order was placed',
    description: 'Sent **once** for each order.',
    requestBody: { content: { 'application/json': { schema } } },
    responses: {
      200: { description: 'You have it.' },
      308: { description: 'Not followed, since no operation of the document declares it.' },
      410: { description: 'No more.' },
    },
  };
  const documented = made({
    webhooks: {
      newOrder: { post: { ...post, 'x-ringback-event': 'order.created' } },
      old: { post: { deprecated: true, description: 'Use the other', responses: {} } },
      'order-created': { $ref: '#/components/pathItems/Elsewhere' },
    },
    components: { pathItems: { Elsewhere: { post: { summary: 'By reference' } } } },
  });
  const { html } = docsPage(documented, service);

  it('is well-formed', () => {
    checkMarkup(html);
  });

  it('shows name, description, payload, responses and example', () => {
    assert.match(
      textOf(html),
      /An order was placed event order\.created Sent once for each order\. Example payload \{ "id": 42 \} Ringback sends POST to the URL that you subscribed with With this payload application\/json object Example \{"id":42\} id integer required Number of the order Your receiver responds 200 Delivered\. You have it\. 410 Ends the subscription\. No more\. other Retried\./,
    );
    assert.match(textOf(html), /old event old Deprecated\. It may still be sent, .* Use the other/);
    assert.match(textOf(html), /By reference event order-created Ringback sends/);
  });

  it('lists them in the contents', () => {
    assert.match(textOf(html), /Contents .* Webhooks An order was placed old By reference Errors/);
    assert.ok(html.includes('href="#webhook-order-created"'));
  });

  it('names the operations of Ringback that subscribe to them and list declared event types', () => {
    const text = textOf(html);
    assert.match(text, /Subscribe with POST \/subscribe, and give the URL to call/);
    assert.match(text, /GET \/event-types lists them with their schemas, for a key with the scope/);
    assert.ok(html.includes('href="?contract=Ringback#op-subscribeOperation"'));
    assert.ok(html.includes('href="?contract=Ringback#op-listEventTypes"'));
    assert.doesNotMatch(textOf(docsPage(documented).html), /Subscribe with|event types/);
  });

  it("says on the page of Ringback's own contract how to list declared event types", () => {
    const mine = docsPage(own, service).html;
    checkMarkup(mine);
    assert.match(textOf(mine), /Event types Each app can declare event types of its own\./);
    assert.ok(mine.includes('href="#op-listEventTypes"'));
    assert.doesNotMatch(textOf(page.html), /Each app can declare/);
  });
});

const evil = `"><script>alert(1)</script><img src=x onerror='alert(2)'> [x](javascript:alert(3))`;

describe('docsPage of a hostile document', () => {
  const schema = {
    type: 'object',
    title: evil,
    description: evil,
    required: [evil],
    properties: { [evil]: { type: evil, format: evil, description: evil, example: evil } },
    enum: [evil],
    pattern: evil,
    default: evil,
  };
  const content = { [`application/${evil}`]: { schema }, 'application/json': { schema } };
  const contract = made({
    info: { title: evil, version: evil, description: evil, license: { name: evil, url: evil } },
    tags: [{ name: evil, description: evil }],
    paths: {
      [`/a/${evil}`]: {
        post: {
          operationId: evil,
          summary: evil,
          description: evil,
          tags: [evil],
          parameters: [{ name: evil, in: 'query', description: evil, example: evil, schema }],
          requestBody: { description: evil, content },
          responses: {
            200: {
              description: evil,
              content,
              headers: { [evil]: { description: evil } },
              links: { [evil]: { operationId: evil, parameters: { [evil]: evil } } },
            },
            [evil]: { description: evil },
          },
          callbacks: {
            [evil]: {
              [`{$request.body#/url}?${evil}`]: {
                'x-ringback-event': 'it.happened',
                post: { summary: evil, description: evil, requestBody: { content }, responses: {} },
              },
              [evil]: {
                'x-ringback-event': '*',
                post: { responses: { 200: { description: evil } } },
              },
            },
          },
        },
      },
    },
    webhooks: {
      [evil]: {
        post: {
          summary: evil,
          description: evil,
          requestBody: { content },
          responses: { [`2${evil}`]: { description: evil } },
        },
      },
    },
    components: {
      securitySchemes: { [evil]: { type: 'apiKey', in: 'header', name: evil, description: evil } },
    },
  });
  const { html } = docsPage(contract);

  it('lets none of it become markup', () => {
    checkMarkup(html);
  });

  it('shows it as the text that it is', () => {
    assert.ok(textOf(html).includes(evil));
  });
});

describe('docsPage of an awkward document', () => {
  it('terminates for recursive schemas', () => {
    const node = {
      type: 'object',
      properties: {
        next: { $ref: '#/components/schemas/Node' },
        all: { type: 'array', items: { $ref: '#/components/schemas/Node' } },
      },
    };
    const loop = { $ref: '#/components/schemas/Loop' };
    const both = { allOf: [{ $ref: '#/components/schemas/Both' }, loop] };
    const deep: Record<string, unknown> = { type: 'array' };
    deep['items'] = deep;
    const named = ['Node', 'Loop', 'Both', 'Deep'].map((name) => ({
      description: 'x',
      content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } },
    }));
    const contract = made({
      paths: { '/a': { get: { responses: Object.fromEntries(named.entries()) } } },
      components: { schemas: { Node: node, Loop: loop, Both: both, Deep: deep } },
    });
    const { html } = docsPage(contract);
    checkMarkup(html);
    assert.match(html, /same as above/);
  });

  it('limits the size of the page for a wide document', () => {
    const names = Array.from({ length: 3_000 }, (_, index) => `p${index}`);
    const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]));
    const responses = {
      200: { description: 'x', content: { 'application/json': { schema: { properties } } } },
    };
    const paths = Object.fromEntries(
      names.slice(0, 200).map((name) => [`/${name}`, { get: { responses } }]),
    );
    const { html } = docsPage(made({ paths }));
    assert.ok(html.length < 12_000_000, `${html.length} characters`);
    assert.match(html, /Truncated\. See/);
  });

  it('renders where there is next to nothing', () => {
    checkMarkup(docsPage(made({ paths: undefined })).html);
    checkMarkup(docsPage(made({ tags: 'x', components: [], security: [], servers: [] })).html);
  });
});

const corpus = join(root, '..', 'shared', 'corpus', 'openapi');
const skip = existsSync(corpus) ? false : `there is no corpus at ${corpus}`;
const files = skip === false ? globSync('**/*.{yaml,yml,json}', { cwd: corpus }).toSorted() : [];

describe('docsPage over the corpus', { skip }, () => {
  for (const file of files) {
    it(file, async (context) => {
      let contract: Contract;
      try {
        contract = await loadContract(join(corpus, file), { contractRoot: corpus });
      } catch (error) {
        assert.ok(error instanceof ContractError, String(error));
        return context.skip('it does not load');
      }
      const before = contract.warnings.length;
      const { html } = docsPage(contract);
      checkMarkup(html);
      assert.equal(contract.warnings.length, before, 'drawing finds nothing new to warn about');
      for (const { role } of contract.operations) {
        if (role.kind !== 'subscribe') continue;
        const labels = role.variants.flatMap(({ callbacks }) => callbacks.map((one) => one.label));
        for (const label of labels) assert.ok(textOf(html).includes(`Callback ${label}`), label);
      }
    });
  }
});
