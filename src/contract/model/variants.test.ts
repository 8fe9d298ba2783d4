import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Message } from '../expression/evaluate.ts';
import { parseExpression, type Expression } from '../expression/expression.ts';
import type { Variant } from './contract.ts';
import { chooseVariant, fieldOf, type Choice } from './variants.ts';

function expression(text: string): Expression {
  const parsed = parseExpression(text);
  assert.ok(parsed.kind === 'parsed');
  return parsed.expression;
}

function variant(name: string, needs: string[], needsAny: string[] = []): Variant {
  return {
    name,
    needs: needs.map(expression),
    needsAny: needsAny.map(expression),
    callbacks: [],
    replaced: undefined,
    answer: {
      status: 200,
      mediaType: 'application/json',
      echoes: [],
      writeOnly: undefined,
      choices: [{ omits: [], fills: [] }],
      schema: undefined,
      idNumbers: [],
      idForm: 'prefixed',
      headers: [],
      idPointers: [],
      secretPointer: undefined,
      location: undefined,
      links: [],
    },
  };
}

const ours = [
  variant('body', ['$request.body#/callbackUrl']),
  variant('query', ['$request.query.callbackUrl', '$request.query.event']),
  variant('multi', [], ['$request.body#/inProgressUrl', '$request.body#/failedUrl']),
];

function choose(query: object, body: unknown, variants = ours): Choice {
  const message: Message = {
    header: new Map(),
    query: new Map(Object.entries(query)),
    path: new Map(),
    body,
  };
  return chooseVariant({ method: 'POST', path: '/subscribe' }, variants, message);
}

function chosen(query: object, body: unknown, variants = ours): string {
  const choice = choose(query, body, variants);
  return choice.kind === 'chosen' ? choice.variant.name : choice.kind;
}

function detail(query: object, body: unknown): string {
  const choice = choose(query, body);
  return choice.kind === 'chosen' ? '' : choice.detail;
}

describe('chooseVariant', () => {
  it('chooses the one variant whose needs are met', () => {
    assert.equal(chosen({}, { callbackUrl: 'x' }), 'body');
    assert.equal(chosen({ callbackUrl: 'x', event: 'e' }, undefined), 'query');
    assert.equal(chosen({}, { failedUrl: 'x' }), 'multi');
    assert.equal(chosen({}, { inProgressUrl: 'x', failedUrl: 'y' }), 'multi');
  });

  it('ignores fields that no variant needs', () => {
    assert.equal(chosen({ other: 1 }, { callbackUrl: 'x', other: 1 }), 'body');
    assert.equal(chosen({ callbackUrl: 'x', event: 'e' }, {}), 'query');
    assert.equal(chosen({ callbackUrl: 'x', event: 'e' }, 'text'), 'query');
  });

  it('counts null as present, so that the schema reports it', () => {
    assert.equal(chosen({}, { callbackUrl: null }), 'body');
    assert.equal(chosen({}, { callbackUrl: 'x', failedUrl: null }), 'several');
  });

  it('names the missing fields', () => {
    assert.deepEqual(choose({ callbackUrl: 'x' }, undefined), {
      kind: 'none',
      detail:
        'POST /subscribe matches no variant: found query.callbackUrl; ' +
        'variant "query" also requires query.event',
      faults: [{ field: 'query.event', message: 'is required for variant "query"' }],
    });
  });

  it('lists the needs of each variant when nothing is present', () => {
    assert.equal(
      detail({}, undefined),
      'POST /subscribe matches no variant: found nothing that a variant requires; ' +
        'variant "body" requires body#/callbackUrl; ' +
        'variant "query" requires query.callbackUrl and query.event; ' +
        'variant "multi" requires body#/inProgressUrl or body#/failedUrl',
    );
    assert.equal(detail({}, {}), detail({}, undefined));
    assert.equal(detail({}, null), detail({}, undefined));
  });

  it('names fields that belong to different variants', () => {
    assert.deepEqual(choose({ event: 'e' }, { callbackUrl: 'x' }), {
      kind: 'several',
      detail:
        'POST /subscribe matches several variants: found body#/callbackUrl (variant "body"), ' +
        'query.event (variant "query"); expected one variant',
      faults: [
        {
          field: 'body#/callbackUrl',
          message: 'belongs to variant "body", expected fields of one variant only',
        },
        {
          field: 'query.event',
          message: 'belongs to variant "query", expected fields of one variant only',
        },
      ],
    });
    assert.equal(chosen({ callbackUrl: 'x', event: 'e' }, { callbackUrl: 'x' }), 'several');
    assert.equal(chosen({}, { callbackUrl: 'x', inProgressUrl: 'y' }), 'several');
  });

  it('lets variants share a need', () => {
    const shared = [
      variant('one', ['$request.query.url']),
      variant('two', ['$request.query.url', '$request.query.event']),
      variant('three', [], ['$request.query.url', '$request.query.urls']),
    ];
    assert.equal(chosen({ url: 'x', event: 'e' }, undefined, shared), 'two');
    assert.equal(chosen({ urls: 'x' }, undefined, shared), 'three');
    assert.equal(chosen({ url: 'x' }, undefined, shared), 'several');
    const choice = choose({ url: 'x' }, undefined, shared);
    assert.ok(choice.kind === 'several');
    assert.match(choice.detail, /found query\.url \(variant "one", "two" or "three"\)/);
  });

  it('requires all of needs and one of needsAny', () => {
    const both = [variant('v', ['$request.query.a'], ['$request.query.b', '$request.query.c'])];
    assert.equal(chosen({ a: 1, c: 1 }, undefined, both), 'v');
    const choice = choose({}, undefined, both);
    assert.ok(choice.kind === 'none');
    assert.match(choice.detail, /variant "v" requires query\.a and query\.b or query\.c$/);
    assert.equal(choice.faults.length, 3);
  });

  it('chooses the only variant of an operation without the extension', () => {
    assert.equal(chosen({}, undefined, [variant('', [])]), '');
  });
});

describe('fieldOf', () => {
  it('names the field as faults do', () => {
    assert.equal(fieldOf(expression('$request.header.X-Url')), 'header.x-url');
    assert.equal(fieldOf(expression('$request.body')), 'body');
    assert.equal(fieldOf(expression('$url')), 'url');
  });
});
