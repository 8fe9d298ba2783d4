import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { repairKey } from './repair.ts';
import type { Declared, RepairedKey } from './repair.ts';
import { parseTemplate } from './template.ts';

const properties = new Set(
  (
    'callbackUrl webhookURL a/b~c user.url $url request.id both ' +
    'id user user/url hook hook/url user.url/x user/url/x'
  ).split(' '),
);

const declared: Declared = {
  parameters: [
    { kind: 'query', name: 'callback_url' },
    { kind: 'query', name: 'both' },
    { kind: 'path', name: 'twice' },
    { kind: 'header', name: 'Twice' },
    { kind: 'header', name: 'X-Hook' },
  ],
  hasProperty: (pointer) => properties.has(pointer.join('/')),
};

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
    [
      '{$callback_url}/invoices/{$request.body.id}',
      '{$request.query.callback_url}/invoices/{$request.body#/id}',
      [
        'found "$callback_url", read as "$request.query.callback_url": ' +
          'the operation declares a parameter of that name',
        'found "$request.body.id", read as "$request.body#/id": ' +
          'only "#" and a pointer lead into a body',
      ],
    ],
    [
      '{$webhookURL}',
      '{$request.body#/webhookURL}',
      [
        'found "$webhookURL", read as "$request.body#/webhookURL": ' +
          'the request body declares a property of that name',
      ],
    ],
    [
      'https://h.example/{x-hook}',
      'https://h.example/{$request.header.x-hook}',
      [
        'found "x-hook", read as "$request.header.X-Hook": ' +
          'the operation declares a parameter of that name',
      ],
    ],
    [
      '{$request.body#/hook.url}',
      '{$request.body#/hook/url}',
      [
        'found "$request.body#/hook.url", read as "$request.body#/hook/url": ' +
          'the request body declares only the nested property',
      ],
    ],
    [
      '{$request.body.hook.url}',
      '{$request.body#/hook/url}',
      [
        'found "$request.body.hook.url", read as "$request.body#/hook/url": ' +
          'only "#" and a pointer lead into a body',
      ],
    ],
  ];
  for (const [text, read, repairs] of broken) {
    it(`reads ${JSON.stringify(text)} as ${read}`, () => {
      const result = repair(text);
      assert.deepEqual(parseTemplate(read), { kind: 'parsed', template: result.template });
      assert.deepEqual(result.repairs, repairs);
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

  it('keeps a name with two meanings, and a dotted name that is declared as it is', () => {
    reasonOf('{$both}');
    reasonOf('{twice}');
    assert.equal(repair('{$request.body#/user.url/x}').text, '{$request.body#/user.url/x}');
    assert.equal(repair('{$request.body.user.url}').text, '{$request.body#/user.url}');
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
        ' or a name that the request declares',
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
      '{$request.body.unknown}',
      '{}',
      '{',
      '/webhooks/{id}',
    ];
    for (const text of keys) reasonOf(text);
  });
});
