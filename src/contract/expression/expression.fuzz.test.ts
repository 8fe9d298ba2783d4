// Feeds 100,000 random strings to everything that parses or fills expressions: nothing may throw,
// hang, or move a callback to another host. A failure prints its seed; SEED=… sets one.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/fast-check.ts';
import { evaluate, resolve, type ExpressionInput } from './evaluate.ts';
import { parseExpression, printExpression } from './expression.ts';
import { repairKey, type Declared } from './repair.ts';
import { buildTargets, fillEvent, type Target } from './target.ts';
import { expressionsOf, parseTemplate, printTemplate, type Template } from './template.ts';

const seed = Number(process.env['SEED'] ?? 20_261_115);
const runs = { unicode: 30_000, grammar: 40_000, value: 20_000, fixed: 10_000 };
const timeout = 20_000;

const fragments = [
  ['$url', '$method', '$statusCode', '$request.', '$response.', 'request.', 'response.'],
  ['header.', 'query.', 'path.', 'body', 'body#', '#', '/', '~', '~0', '~1', '~2', '.', '..'],
  ['{', '}', '{$', '{$request.query.', '{$request.body#/', '{$url}', '{$request.path.eventType}'],
  ['{$request.query.a}', '{$request.body#/a}', '{$request.header.a}', '{$request.query.list}'],
  ['a', 'b', 'a.b', 'eventType', '{eventType}', '0', '1', '00', '-', 'length', '__proto__'],
  ['constructor', ' ', '\t', '\n', '?', '&', '=', ':', '@', '\\', '%', '%2e', '%7B', '$', '$&'],
  ['http://', 'https://', 'http:', '//', 'h.example', '.evil.com', '@evil.com', ':80', '[::1]'],
  ['\u0000', '\ud800', '\udc00', 'é', '／', '。', '\u{1f600}', '\ufeff', '\u00ad'],
].flat();

/** Every UTF-16 code unit, including lone surrogates. */
const unicode = fc
  .array(fc.oneof(fc.nat(0xff_ff), fc.nat(0x7f)), { maxLength: 40 })
  .map((units) => String.fromCharCode(...units));
const grammar = fc
  .array(fc.constantFrom(...fragments), { maxLength: 12 })
  .map((chosen) => chosen.join(''));
const anyText = fc.oneof(unicode, grammar);

const host = fc.oneof(
  fc.constantFrom('h', 'H.Example', 'h.example.', '127.0.0.1', '0x7f.1', '[::1]', 'ä.example'),
  fc.constantFrom('h%2eexample', '{eventType}', 'h。example', 'xn--4ca.example', '$request.a'),
  anyText,
);
const url = fc
  .record({
    scheme: fc.constantFrom('http://', 'https://', 'HTTP://', 'hTTps://', 'http:', 'https:/'),
    user: fc.constantFrom('', '', '', 'u@', 'u:p@', ':@', 'a@b@', '{@', '%40:%2f@'),
    host,
    port: fc.constantFrom('', '', '', ':', ':80', ':443', ':8080', ':0', ':99999'),
    path: fc.oneof(fc.constantFrom('', '', '/', '/p', '/p/', '//', '/../..'), grammar),
    query: fc.constantFrom('', '', '?', '?x=1', '?a?b', '?x=/../', '?t&', '?@evil/'),
    hash: fc.constantFrom('', '', '#', '#f', '#@evil.com/', '#?x', '#/\\evil'),
  })
  .map((piece) => Object.values(piece).join(''));

const json = fc.oneof(
  anyText,
  url,
  fc.jsonValue({ maxDepth: 3 }),
  fc.array(url, { maxLength: 70 }),
);
const exchange: fc.Arbitrary<ExpressionInput> = fc
  .record({ a: json, b: json, text: anyText, list: fc.array(anyText), root: json, url })
  .map(({ a, b, text, list, root, url: own }) => {
    const body: unknown =
      typeof root === 'string' ? { a, b, list, length: a, constructor: b } : root;
    const message = {
      header: new Map([['a', text]]),
      query: new Map<string, unknown>([
        ['a', a],
        ['b', b],
        ['list', list],
      ]),
      path: new Map<string, unknown>([['a', b]]),
      body,
    };
    return { url: own, method: text, statusCode: 201, request: message, response: message };
  });

/** Creating an exchange takes ten times as long as the test itself, so ten strings share each. */
const together = 10;

function ten<T>(one: fc.Arbitrary<T>): fc.Arbitrary<T[]> {
  return fc.array(one, { minLength: together, maxLength: together });
}

function check(property: fc.IProperty<unknown[]>, strings: number): void {
  fc.assert(property, { seed, numRuns: strings / together });
}

function surviveAll(texts: readonly string[], on: ExpressionInput): void {
  for (const text of texts) survive(text, on);
}

/** What must hold for every string and exchange. */
function survive(text: string, on: ExpressionInput): void {
  const expression = parseExpression(text);
  if (expression.kind === 'parsed') {
    assert.deepEqual(parseExpression(printExpression(expression.expression)), expression);
  } else {
    assert(expression.at >= 0 && expression.at <= text.length);
  }
  const parsed = parseTemplate(text);
  if (parsed.kind === 'parsed') {
    assert.deepEqual(parseTemplate(printTemplate(parsed.template)), parsed);
    fill(parsed.template, on);
  } else {
    assert(parsed.at >= 0 && parsed.at <= text.length);
  }
  const repaired = repairKey(text, declaring('a', 'a.b', 'length', text));
  if (repaired.kind === 'usable') {
    fill(repaired.template, on);
    const again = repairKey(repaired.text, declaring('a'));
    assert(again.kind === 'usable' && again.repairs.length === 0, 'a repaired key is correct');
  }
}

function declaring(...names: readonly string[]): Declared {
  const hasProperty: Declared['hasProperty'] = ([name = '', ...rest]) =>
    rest.length === 0 && names.includes(name);
  return { parameters: [], hasProperty };
}

function fill(template: Template, on: ExpressionInput): void {
  for (const expression of expressionsOf(template)) {
    evaluate(expression, on);
    const resolved = resolve(expression, on);
    assert.notEqual(typeof (resolved.kind === 'found' ? resolved.value : ''), 'function');
  }
  for (const target of buildTargets(template, on)) checkTarget(target);
}

function checkTarget(target: Target): void {
  if (target.kind !== 'url') {
    assert.notEqual(target.reason, '');
    return;
  }
  assert.doesNotMatch(target.url.replaceAll('{eventType}', ''), /[{}#\\\s]/u);
  const filled = fillEvent(target.url, '../{eventType}@evil.com:1/?#');
  assert.doesNotMatch(filled, /[{}]/u);
  assert.equal(authorityOf(filled), authorityOf(target.url));
}

function authorityOf(text: string): string {
  const { protocol, username, password, host: name, port } = new URL(text);
  return JSON.stringify({ protocol, username, password, name, port });
}

describe('parseExpression, parseTemplate, repairKey and buildTargets', () => {
  it('survive random Unicode', { timeout }, () => {
    check(fc.property(ten(unicode), exchange, surviveAll), runs.unicode);
  });

  it('survive strings made of pieces of the grammar', { timeout }, () => {
    check(fc.property(ten(grammar), exchange, surviveAll), runs.grammar);
  });
});

describe('buildTargets', () => {
  it('never changes scheme, userinfo, host or port of the value', { timeout }, () => {
    let made = 0;
    const keep = (value: string, tail: string, on: ExpressionInput): void => {
      const parsed = parseTemplate(`{$request.query.value}${tail}`);
      if (parsed.kind === 'malformed') return;
      const query = new Map([...on.request.query, ['value', value]]);
      const targets = buildTargets(parsed.template, { ...on, request: { ...on.request, query } });
      for (const target of targets) {
        checkTarget(target);
        if (target.kind !== 'url') continue;
        assert.equal(authorityOf(target.url), authorityOf(value));
        made += 1;
      }
    };
    const property = fc.property(ten(fc.tuple(url, grammar)), exchange, (pairs, on) => {
      for (const [value, tail] of pairs) keep(value, tail, on);
    });
    check(property, runs.value);
    assert(made > runs.value / 20, `only ${made} targets were made`);
  });

  it('takes the authority of a static URL from no expression', { timeout }, () => {
    let made = 0;
    const start = fc.constantFrom('http://', 'http://h', 'https://u@h:81/', 'http://h?', 'https:');
    const stay = (text: string, exchanges: readonly ExpressionInput[]): void => {
      const parsed = parseTemplate(text);
      if (parsed.kind === 'malformed') return;
      const authorities = exchanges
        .flatMap((on) => buildTargets(parsed.template, on))
        .flatMap((target) => (target.kind === 'url' ? [authorityOf(target.url)] : []));
      assert(new Set(authorities).size <= 1, authorities.join(' '));
      made += authorities.length;
    };
    const texts = ten(fc.tuple(start, grammar));
    const property = fc.property(texts, exchange, exchange, (pairs, one, other) => {
      for (const [first, tail] of pairs) stay(first + tail, [one, other]);
    });
    check(property, runs.fixed);
    assert(made > runs.fixed / 20, `only ${made} targets were made`);
  });
});
