import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { repairKey } from './repair.ts';
import type { RepairedKey } from './repair.ts';
import { parseTemplate } from './template.ts';

const declared = new Set(['callbackUrl', 'webhookURL', 'a/b~c', 'user.url', '$url', 'request.id']);

function repair(text: string): Extract<RepairedKey, { kind: 'usable' }> {
  const result = repairKey(text, declared);
  assert(result.kind === 'usable', `${text}: ${JSON.stringify(result)}`);
  return result;
}

function reasonOf(text: string): string {
  const result = repairKey(text, declared);
  assert(result.kind === 'unusable', `${text} should not be usable`);
  return result.reason;
}

describe('repairKey', () => {
  const correct = [
    '{$request.body#/callbackUrl}',
    '$request.body#/callbackUrl',
    '{$request.query.callbackUrl}?event={$request.query.event}',
    '{$request.query.url}/callback-with-header',
    '$request.query.heartbeat-url',
    '$response.body#/successUrl',
    '{$request.body}',
    '{$request.body#}',
    '{$request.body#/user.url}',
    '{$request.body#/data/x.y}',
    '{$response.body#/x.y}',
    '{$url}',
    'https://yourdomain.com/css/yourCallbackEndpoint',
    'https://h.example/{$request.path.eventType}',
  ];
  for (const text of correct) {
    it(`keeps ${text} unchanged`, () => {
      const result = repair(text);
      assert.equal(result.text, text);
      assert.deepEqual(result.repairs, []);
      assert.deepEqual(result.suggestions, []);
    });
  }

  const broken: readonly [string, string, readonly string[]][] = [
    [
      '{request.body#/url}',
      '{$request.body#/url}',
      ['found "request.body#/url", read as "$request.body#/url": the "$" was missing'],
    ],
    [
      '{response.body#/url}/x',
      '{$response.body#/url}/x',
      ['found "response.body#/url", read as "$response.body#/url": the "$" was missing'],
    ],
    [
      '{ $request.query.url }',
      '{$request.query.url}',
      [
        'found " $request.query.url ", read as "$request.query.url": surrounding spaces were removed',
      ],
    ],
    [
      ' {$request.query.url}\n',
      '{$request.query.url}',
      [
        'found " {$request.query.url}\\n", read as "{$request.query.url}": ' +
          'surrounding spaces were removed',
      ],
    ],
    [
      '{$request.body#/url',
      '{$request.body#/url}',
      ['found "{$request.body#/url", read as "{$request.body#/url}": the final "}" was missing'],
    ],
    [
      '{$request.body#url}',
      '{$request.body#/url}',
      [
        'found "$request.body#url", read as "$request.body#/url": ' +
          'the "/" after the "#" was missing',
      ],
    ],
    [
      '$request.body#url',
      '$request.body#/url',
      [
        'found "$request.body#url", read as "$request.body#/url": ' +
          'the "/" after the "#" was missing',
      ],
    ],
    [
      '{webhookURL}',
      '{$request.body#/webhookURL}',
      [
        'found "webhookURL", read as "$request.body#/webhookURL": ' +
          'the request body declares a property of that name',
      ],
    ],
  ];
  for (const [text, read, repairs] of broken) {
    it(`reads ${JSON.stringify(text)} as ${read}`, () => {
      const result = repair(text);
      assert.equal(result.text, read);
      assert.deepEqual(result.repairs, repairs);
      assert.deepEqual(parseTemplate(read), { kind: 'parsed', template: result.template });
    });
  }

  it('applies several repairs to one key and reports each', () => {
    const result = repair('{ request.body#url }?e={$request.query.e');
    assert.equal(result.text, '{$request.body#/url}?e={$request.query.e}');
    assert.equal(result.repairs.length, 4);
  });

  it('escapes a declared name in the pointer and prefers it to a missing "$"', () => {
    assert.equal(repair('{a/b~c}').text, '{$request.body#/a~1b~0c}');
    assert.equal(repair('{request.id}').text, '{$request.body#/request.id}');
  });

  it('is idempotent', () => {
    for (const [text] of broken) {
      const again = repair(repair(text).text);
      assert.deepEqual(again.repairs, []);
    }
  });

  it('suggests slashes for a dotted pointer, without applying it', () => {
    const result = repair('{$request.body#/data.url/0}');
    assert.equal(result.text, '{$request.body#/data.url/0}');
    assert.deepEqual(result.repairs, []);
    assert.deepEqual(result.suggestions, [
      'found "#/data.url/0": the request body declares no property "data.url"; ' +
        'write "#/data/url/0" if you mean a nested property',
    ]);
    assert.deepEqual(repair('{$request.body#/.url}').suggestions, []);
  });

  it('suggests braces for an expression in the middle of text', () => {
    assert.deepEqual(repair('http://$request.query.url').suggestions, [
      'found "$request." outside braces, read as literal text: expressions need braces here',
    ]);
  });

  it('explains why a key cannot be used', () => {
    const start = '"$url", "$method", "$statusCode", "$request." or "$response."';
    assert.equal(
      reasonOf('{unknown}'),
      `Cannot read callback key "{unknown}": character 2 is "u", expected ${start}` +
        ' or a property that the request body declares',
    );
    assert.equal(
      reasonOf('$request.body.url'),
      'Cannot read callback key "$request.body.url": character 14 is ".", expected "#" or the end',
    );
    assert.equal(
      reasonOf('$request.header.'),
      'Cannot read callback key "$request.header.": ' +
        'character 17 is missing, expected a character of a header name',
    );
    assert.equal(
      reasonOf('{$request.body#/~}'),
      'Cannot read callback key "{$request.body#/~}": character 17 is "~", expected "~0" or "~1"',
    );
    assert.equal(
      reasonOf('Provided URL in /webhook_subscriptions'),
      'Cannot accept callback URL "Provided URL in /webhook_subscriptions": ' +
        'it has no scheme, expected http:// or https:// and a host',
    );
    assert.match(reasonOf('https://{$request.query.host}/x'), /it would change the host/u);
  });

  it('repairs nothing that is ambiguous', () => {
    const keys = [
      '',
      'callbackUrl',
      'request.body#/url',
      '$request.body#/url}',
      '{{$request.body#/url}}',
      '{$request.query.url?event={$request.query.event}',
      '{$request. body#/url}',
      '{$request.body/url}',
      '{}',
      '{',
      '/webhooks/{id}',
    ];
    for (const text of keys) reasonOf(text);
  });
});
