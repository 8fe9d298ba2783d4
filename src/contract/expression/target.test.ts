import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { limits } from '../../core/limits/limits.ts';
import { showUrl } from '../../core/secrets/redact.ts';
import type { ExpressionInput } from './evaluate.ts';
import { buildTargets, fillEvent, templateFault, type Target } from './target.ts';
import { parseTemplate, type Template } from './template.ts';

function template(text: string): Template {
  const result = parseTemplate(text);
  assert(result.kind === 'parsed', `${text} should parse`);
  return result.template;
}

function exchange(query: Record<string, unknown>): ExpressionInput {
  return {
    url: 'https://api.example/subscribe',
    method: 'PUT',
    statusCode: 201,
    request: {
      header: new Map([['x-url', 'https://header.example/']]),
      query: new Map(Object.entries(query)),
      path: new Map(),
      body: query,
    },
    response: {
      header: new Map(),
      query: new Map(),
      path: new Map(),
      body: { subscriberId: 'sub_1', successUrl: 'https://answer.example/' },
    },
  };
}

/** Builds `{$request.query.url}` followed by the tail. */
function build(url: unknown, tail: string, more: Record<string, unknown> = {}): Target {
  const [target, ...others] = buildTargets(
    template(`{$request.query.url}${tail}`),
    exchange({ url, ...more }),
  );
  assert(target !== undefined && others.length === 0, 'expected one target');
  return target;
}

function urlOf(target: Target): string {
  assert(target.kind === 'url', `expected a url, got ${JSON.stringify(target)}`);
  return target.url;
}

function refusalOf(target: Target): string {
  assert(target.kind === 'refused', `expected a refusal, got ${JSON.stringify(target)}`);
  return target.reason;
}

describe('buildTargets', () => {
  it('uses the value at position 0 verbatim', () => {
    const urls = [
      'https://h/cb',
      'HTTP://H.Example:8080/a%2Fb/../c;d?x=%20&y=a+b&z',
      'https://user:pass@h/',
      'http://[::1]:81/x',
      'https://h/ä?ö',
      'https://h',
      'https://h?',
    ];
    for (const url of urls) assert.equal(urlOf(build(url, '')), url);
  });

  it('percent-encodes every later expression, except unreserved characters', () => {
    assert.equal(
      urlOf(build('https://h/cb', '?event={$request.query.e}', { e: 'a b&c=d#e?f/g' })),
      'https://h/cb?event=a%20b%26c%3Dd%23e%3Ff%2Fg',
    );
    const e = "-._~!'()*@:%{}é\ud800";
    const encoded = '-._~%21%27%28%29%2A%40%3A%25%7B%7D%C3%A9%EF%BF%BD';
    assert.equal(urlOf(build('https://h', '/{$request.query.e}', { e })), `https://h/${encoded}`);
  });

  it('reads $method of the callback and $response of the answer', () => {
    assert.equal(
      urlOf(build('https://h/', '?m={$method}&s={$statusCode}&id={$response.body#/subscriberId}')),
      'https://h/?m=PUT&s=201&id=sub_1',
    );
    const [target] = buildTargets(template('$response.body#/successUrl'), exchange({}));
    assert.deepEqual(target, { kind: 'url', url: 'https://answer.example/' });
  });

  const joins: readonly [string, string, string][] = [
    ['https://h/cb?x=1', '?event=e', 'https://h/cb?x=1&event=e'],
    ['https://h/p?t=1', '/data', 'https://h/p/data?t=1'],
    ['https://h/p/', '/data', 'https://h/p/data'],
    ['https://h/p//', '/data', 'https://h/p//data'],
    ['https://h/p', '//data', 'https://h/p//data'],
    ['https://h/', '/', 'https://h/'],
    ['https://h', '/data', 'https://h/data'],
    ['https://h', '?a=1', 'https://h?a=1'],
    ['https://h?t=1', '/data', 'https://h/data?t=1'],
    ['https://h/p#frag', '', 'https://h/p'],
    ['https://h/p#frag', '/data?a=1', 'https://h/p/data?a=1'],
    ['https://h/p?t=1#frag?x', '?a=1', 'https://h/p?t=1&a=1'],
    ['https://h/p#f/g?h', '/data', 'https://h/p/data'],
    ['https://h/p/?t=1', '/data?a=1', 'https://h/p/data?t=1&a=1'],
    ['https://h/p?', '?a=1', 'https://h/p?a=1'],
    ['https://h/p?t=1&', '?a=1', 'https://h/p?t=1&a=1'],
    ['https://h/p?t=1', '?', 'https://h/p?t=1'],
    ['https://h/p', '?', 'https://h/p?'],
    ['https://h/p?a?b', '?c', 'https://h/p?a?b&c'],
    ['https://h/p', '?a=1?b=2', 'https://h/p?a=1?b=2'],
    ['https://h/p?t=1', '?a=1?b=2', 'https://h/p?t=1&a=1?b=2'],
    ['https://h/p?t=1', '&a=1', 'https://h/p?t=1&a=1'],
    ['https://h/p', '-v2/data', 'https://h/p-v2/data'],
    ['https://h/p', '/data#top', 'https://h/p/data'],
    ['https://h/p?t=/x', '/data', 'https://h/p/data?t=/x'],
    ['https://h/p', '/a b"<>\\^`|}é%20', 'https://h/p/a%20b%22%3C%3E%5C%5E%60%7C%7D%C3%A9%20'],
  ];
  for (const [url, tail, joined] of joins) {
    it(`joins ${url} and ${JSON.stringify(tail)} to ${joined}`, () => {
      assert.equal(urlOf(build(url, tail)), joined);
    });
  }

  it('keeps expressions in place relative to the text around them', () => {
    const more = { a: 'A', b: 'B' };
    const cases: readonly [string, string, string][] = [
      ['https://h/p?t=1', '/x/{$request.query.a}/y?b={$request.query.b}', '/p/x/A/y?t=1&b=B'],
      ['https://h/p?t=1', '?{$request.query.a}', '/p?t=1&A'],
      ['https://h/p?t=1', '?a={$request.query.a}/y?z', '/p?t=1&a=A/y?z'],
      ['https://h/p?t=1', '{$request.query.a}', '/p?t=1A'],
      ['https://h/p', '{$request.query.a}/y', '/pA/y'],
      ['https://h/p?t=1', '{$request.query.a}/y', '/p/y?t=1A'],
      ['https://h/p', '?x=1#{$request.query.a}?y', '/p?x=1'],
    ];
    for (const [url, tail, rest] of cases) {
      assert.equal(urlOf(build(url, tail, more)), `https://h${rest}`, tail);
    }
  });

  it('builds one target per element of a list', () => {
    const urls = ['https://a/', 'nonsense', 'https://b/'];
    for (const text of ['{$request.query.url}', '$request.query.url']) {
      const targets = buildTargets(template(text), exchange({ url: urls }));
      assert.deepEqual(
        targets.map((target) => target.kind),
        ['url', 'refused', 'url'],
      );
    }
  });

  it('refuses a list with more elements than a subscription may have callbacks', () => {
    const max = limits.callbacksPerSubscriptionMax;
    const list = (length: number): string[] => Array.from({ length }, () => 'https://h/');
    const whole = template('$request.query.url');
    assert.equal(buildTargets(whole, exchange({ url: list(max) })).length, max);
    assert.deepEqual(buildTargets(whole, exchange({ url: list(max + 1) })), [
      {
        kind: 'refused',
        reason:
          'Cannot accept the callback URLs of "$request.query.url": ' +
          'it has 65 elements, expected at most 64',
      },
    ]);
  });

  it('leaves a list beside other text unresolved', () => {
    assert.deepEqual(build(['https://a/'], '/data'), {
      kind: 'unresolved',
      reason:
        '$request.query.url is a list, expected one value because it is combined with other text',
    });
  });

  it('is unresolved when any expression is', () => {
    const reason = 'the request has no query parameter "e"';
    assert.deepEqual(build('https://h/', '?e={$request.query.e}'), { kind: 'unresolved', reason });
    assert.deepEqual(buildTargets(template('$request.query.e'), exchange({})), [
      { kind: 'unresolved', reason },
    ]);
    assert.equal(build(null, '').kind, 'unresolved');
    assert.equal(build({ a: 1 }, '/data').kind, 'unresolved');
  });

  it('accepts a static URL with expressions after its authority', () => {
    const make = (text: string): string => {
      const [target] = buildTargets(template(text), exchange({ e: 'a/b' }));
      assert(target !== undefined);
      return urlOf(target);
    };
    assert.equal(make('https://fixed.example/hook'), 'https://fixed.example/hook');
    assert.equal(make('https://fixed.example'), 'https://fixed.example');
    assert.equal(make('https://fixed.example/a?b?c=d'), 'https://fixed.example/a?b?c=d');
    assert.equal(make('https://f.example/{$request.query.e}/x'), 'https://f.example/a%2Fb/x');
    assert.equal(make('https://f.example?e={$request.query.e}'), 'https://f.example?e=a%2Fb');
    assert.equal(make('https://f.example/?e={$request.query.e}/x'), 'https://f.example/?e=a%2Fb/x');
  });

  it('keeps expressions out of the authority of a static URL', () => {
    const texts = [
      'https://{$request.query.e}/x',
      'http://h.example{$request.query.e}',
      'http://h.example:{$request.query.e}/',
      'http://user@{$request.query.e}/',
      'http://{$request.path.eventType}.h.example/',
      'https:{$request.query.e}',
      'https:/{$request.query.e}',
      'http{$request.query.e}',
      '//{$request.query.e}/',
      'http://h.example\\{$request.query.e}',
    ];
    for (const text of texts) {
      for (const e of ['h', '.evil.com', '/x', '', '@evil.com', '//evil.com/']) {
        const targets = buildTargets(template(text), exchange({ e }));
        assert.deepEqual(
          targets.map((target) => target.kind),
          ['refused'],
          text,
        );
      }
    }
    const [target] = buildTargets(template('https://{$request.query.e}/x'), exchange({}));
    assert.deepEqual(target, {
      kind: 'refused',
      reason:
        'Cannot append "$request.query.e" to "https://": ' +
        'it would change the host, expected "/", "?" or nothing there',
    });
  });

  it('never lets a tail change the host of the value', () => {
    const more = { e: '.evil.com' };
    const tails = [
      '.evil.com',
      '@evil.com',
      ':8080',
      '8080/x',
      '%2eevil.com',
      '\\@evil.com',
      '{$request.query.e}',
      '{$request.query.e}/x',
      '{$request.path.eventType}',
      '&x',
      ' /x',
      '\t/x',
    ];
    for (const tail of tails) {
      for (const url of ['http://h', 'https://h:', 'https://u:p@h:8443', 'http://[::1]']) {
        refusalOf(build(url, tail, more));
        refusalOf(build(`${url}#f`, tail, more));
        for (const end of ['/', '?', '/p', '/p?q=1', '?q#f']) {
          const made = new URL(urlOf(build(url + end, tail, more)));
          const given = new URL(url);
          assert.equal(made.host, given.host);
          assert.equal(made.username, given.username);
        }
      }
    }
    assert.equal(
      refusalOf(build('http://h', '.evil.com')),
      'Cannot append ".evil.com" to "http://h": ' +
        'it would change the host, expected "/", "?" or nothing there',
    );
  });

  it('refuses a scheme from an expression with the host in static text', () => {
    refusalOf(build('https', '://h.example/x'));
    refusalOf(build('https://evil.com', '://h.example/x'));
  });

  const refusals: readonly [unknown, string][] = [
    ['', 'it has no scheme, expected http:// or https:// and a host'],
    ['h.example/cb', 'it has no scheme, expected http:// or https:// and a host'],
    ['/cb', 'it has no scheme, expected http:// or https:// and a host'],
    ['//h.example/cb', 'it has no scheme, expected http:// or https:// and a host'],
    [' https://h/', 'it has no scheme, expected http:// or https:// and a host'],
    [7, 'it has no scheme, expected http:// or https:// and a host'],
    ['ftp://x', 'scheme is "ftp", expected http or https'],
    ['localhost:8080/cb', 'scheme is "localhost", expected http or https'],
    ['javascript:alert(1)', 'scheme is "javascript", expected http or https'],
    ['https:h/cb', 'there is no host after "https:", expected "//" and a host'],
    ['https:/h/cb', 'there is no host after "https:", expected "//" and a host'],
    ['https:///h/cb', 'there is no host after "https:", expected "//" and a host'],
    ['https://', 'there is no host after "https:", expected "//" and a host'],
    ['https://?x', 'there is no host after "https:", expected "//" and a host'],
    ['https://h/ ', 'character 11 is " ", expected it percent-encoded'],
    ['https://h\\@evil/', 'character 10 is "\\\\", expected it percent-encoded'],
    ['https://h/\n', 'character 11 is "\\n", expected it percent-encoded'],
    ['https://h\ufeff/', 'character 10 is "\ufeff", expected it percent-encoded'],
    ['https://h\u0000/', 'character 10 is "\\u0000", expected it percent-encoded'],
    ['https://h/\ud800', 'character 11 is "\\ud800", expected it percent-encoded'],
    ['https://h:x/', 'its host or port cannot be parsed, expected a host name or an address'],
    ['https://h:99999/', 'its host or port cannot be parsed, expected a host name or an address'],
    ['https://u@/', 'its host or port cannot be parsed, expected a host name or an address'],
    ['https://a<b/', 'its host or port cannot be parsed, expected a host name or an address'],
  ];
  for (const [url, reason] of refusals) {
    it(`refuses ${JSON.stringify(url)} as a URL, even before other text`, () => {
      const expected = `Cannot accept callback URL ${JSON.stringify(showUrl(String(url)))}: ${reason}`;
      assert.equal(refusalOf(build(url, '')), expected);
      assert.equal(refusalOf(build(url, '/data')), expected);
    });
  }

  it('repeats neither password nor query in its message, since both may be secret', () => {
    for (const url of [
      'ftp://me:swordfish@h/',
      'ftp://h/?token=swordfish',
      'https://h /?swordfish',
    ]) {
      assert.doesNotMatch(refusalOf(build(url, '')), /swordfish/);
    }
  });

  it('refuses a URL beyond the limit and quotes only its beginning', () => {
    const fits = `https://h/${'x'.repeat(limits.urlBytesMax - 10)}`;
    assert.equal(urlOf(build(fits, '')), fits);
    const quoted = JSON.stringify(`${fits.slice(0, 100)}…`);
    for (const tail of ['', '?']) {
      const target = build(tail === '' ? `${fits}x` : fits, tail);
      const reason = 'it has 4097 bytes, expected at most 4096';
      assert.equal(refusalOf(target), `Cannot accept callback URL ${quoted}: ${reason}`);
    }
    refusalOf(build(`https://h/${'{'.repeat(limits.urlBytesMax - 10)}`, ''));
  });

  it('refuses a value that would traverse the path upwards', () => {
    const cases: readonly [string, string, string][] = [
      ['https://h/a', '/{$request.query.e}/b', '..'],
      ['https://h/a/', '/{$request.query.e}', '..'],
      ['https://h/a/', '{$request.query.e}', '..'],
      ['https://h/a', '/.{$request.query.e}', '.'],
      ['https://h/a', '/%2E{$request.query.e}?x', '.'],
      ['https://h/a', '/{$request.query.e}', '.'],
      ['https://h/a/.', '{$request.query.e}', '.'],
    ];
    for (const [url, tail, e] of cases) {
      assert.match(refusalOf(build(url, tail, { e })), /a segment "\." or "\.\."/u);
    }
    for (const e of ['...', '..a', '%2e%2e', 'a..']) {
      urlOf(build('https://h/a', '/{$request.query.e}/b', { e }));
    }
    urlOf(build('https://h/../a?x=1', '?e={$request.query.e}', { e: '..' }));
    const [fixed] = buildTargets(
      template('https://h/users/{$request.query.e}/x'),
      exchange({ e: '..' }),
    );
    assert(fixed !== undefined);
    assert.equal(
      refusalOf(fixed),
      'Cannot use callback path "/users/../x": ' +
        'it has a segment "." or "..", expected none next to an expression',
    );
  });

  it('keeps $request.path.eventType as the only placeholder', () => {
    assert.equal(
      urlOf(
        build('https://h/{eventType}', '/{$request.path.eventType}}?e={$request.query.e}', {
          e: '{eventType}',
        }),
      ),
      'https://h/%7BeventType%7D/{eventType}%7D?e=%7BeventType%7D',
    );
    assert.equal(urlOf(build('https://{eventType}/', '')), 'https://%7BeventType%7D/');
  });

  it('refuses the event name as the whole URL', () => {
    for (const text of ['$request.path.eventType', '{$request.path.eventType}/x']) {
      assert.deepEqual(buildTargets(template(text), exchange({})), [
        {
          kind: 'refused',
          reason:
            'Cannot use "$request.path.eventType" as callback URL: it is the event name, ' +
            'expected an expression that yields the whole URL',
        },
      ]);
    }
  });

  it('refuses a template without expression that is no URL', () => {
    for (const text of [
      '',
      'Provided URL in /webhook_subscriptions',
      'https://a b/',
      '$request.x',
    ]) {
      const [target] = buildTargets(template(text), exchange({}));
      assert(target !== undefined);
      refusalOf(target);
    }
  });
});

describe('fillEvent', () => {
  it('inserts the name, percent-encoded, for every placeholder', () => {
    assert.equal(
      fillEvent('https://h/{eventType}?e={eventType}', 'order.created/é $&'),
      'https://h/order.created%2F%C3%A9%20%24%26?e=order.created%2F%C3%A9%20%24%26',
    );
  });

  it('does not change a URL without a placeholder', () => {
    assert.equal(fillEvent('https://h/%7BeventType%7D', 'e'), 'https://h/%7BeventType%7D');
  });
});

describe('templateFault', () => {
  it('accepts a template that some exchange can fill', () => {
    for (const text of ['$url', '{$request.query.a}://x', 'https://h', 'http://h/{$url}']) {
      assert.equal(templateFault(template(text)), undefined);
    }
  });

  it('explains why a template can never produce a target', () => {
    assert.match(templateFault(template('http://{$url}')) ?? '', /^Cannot append "\$url" to/u);
    assert.match(templateFault(template('Provided URL')) ?? '', /it has no scheme/u);
    assert.match(templateFault([]) ?? '', /it has no scheme/u);
  });
});
