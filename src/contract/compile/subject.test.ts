import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ContractError } from '../document/document.ts';
import { compileContract } from './compile.ts';
import { printTemplate } from '../expression/template.ts';

interface Compiled {
  subject: string | undefined;
  customer: string | undefined;
  expiresMs: number | undefined;
  warnings: string[];
}

/** Compiles `POST /jobs` with these extensions. */
function compile(extensions: Record<string, unknown>): Compiled {
  const operation = {
    parameters: [
      { name: 'job', in: 'query', schema: { type: 'string' } },
      { name: 'X-Account', in: 'header', schema: { type: 'string' } },
    ],
    requestBody: { content: { 'application/json': { schema: { type: 'object' } } } },
    responses: { 201: { description: 'Made' } },
    callbacks: { done: { '{$request.query.job}': { post: {} } } },
    ...extensions,
  };
  const components = {
    securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } },
  };
  const root = {
    openapi: '3.1.0',
    info: { title: 'T' },
    paths: { '/jobs': { post: operation } },
    components,
  };
  const { operations, warnings } = compileContract({ path: 'api.yaml', root });
  const role = operations[0]?.role;
  assert(role?.kind === 'subscribe');
  const { subject, customer, expiresMs } = role;
  return {
    subject: subject && printTemplate(subject),
    customer: customer && printTemplate(customer),
    expiresMs,
    warnings: warnings.map(({ message }) => message),
  };
}

describe('compileSubject', () => {
  it('takes an expression, or a text with expressions', () => {
    const texts = ['$request.query.job', '{$response.body#/id}', 'job:{$request.query.job}'];
    const found = texts.map((text) => compile({ 'x-ringback-subject': text }).subject);
    assert.deepEqual(found, [
      '{$request.query.job}',
      '{$response.body#/id}',
      'job:{$request.query.job}',
    ]);
    assert.equal(compile({}).subject, undefined);
  });

  it('refuses anything else, and says what was expected', () => {
    for (const wrong of ['job', '$response.body/id', '{$request.query.job', '', 7, null, {}]) {
      assert.throws(() => compile({ 'x-ringback-subject': wrong }), {
        name: 'ContractError',
        message: /Cannot read the subject at .*: it is .*, expected a runtime expression such as/,
      });
    }
  });

  it('refuses credentials, and warns of what the operation does not declare', () => {
    const credential = { 'x-ringback-subject': '$request.header.x-key' };
    assert.throws(() => compile(credential), /it carries a credential/);
    const { warnings } = compile({ 'x-ringback-subject': '$request.query.other' });
    assert.match(warnings.join(), /"\$request\.query\.other" never resolves/);
  });
});

describe('compileCustomer', () => {
  const of = (text: unknown): Compiled => compile({ 'x-ringback-customer': text });

  it('takes what the request says: a header, the body, the query, or a text with them', () => {
    const texts = [
      '$request.header.X-Account',
      '$request.body#/account/id',
      '$request.query.job',
      'cus_{$request.header.X-Account}:{$request.query.job}',
    ];
    const found = texts.map((text) => of(text));
    assert.deepEqual(
      found.map(({ customer }) => customer),
      [
        '{$request.header.x-account}',
        '{$request.body#/account/id}',
        '{$request.query.job}',
        'cus_{$request.header.x-account}:{$request.query.job}',
      ],
    );
    assert.deepEqual(
      found.flatMap(({ warnings }) => warnings),
      [],
    );
    assert.equal(compile({}).customer, undefined);
  });

  it('refuses what is not known before an API answers, with its place', () => {
    const late = ['$response.body#/id', '$response.header.location', '$url', '$method'];
    for (const expression of [...late, '$statusCode']) {
      for (const text of [expression, `{$request.query.job}:{${expression}}`]) {
        const message = faultOf(text);
        const [place, fault] = message.split(': ');
        assert.match(place ?? '', /^Cannot read the customer at .*x-ringback-customer$/u);
        assert.equal(fault, `it reads ${expression}, expected a part of the request`);
      }
    }
  });

  it('refuses a plain text and anything else, and says what was expected', () => {
    for (const wrong of ['cus_1', '$request.body/id', '{$request.query.job', '', 7, null, {}]) {
      assert.match(
        faultOf(wrong),
        /^Cannot read the customer at .*x-ringback-customer: it is .*, expected a runtime expression such as "\$request\.header\.X-Account"/,
      );
    }
  });

  it('refuses credentials, and warns of what the operation does not declare', () => {
    assert.match(faultOf('$request.header.x-key'), /it carries a credential/);
    const { warnings } = of('$request.header.X-Other');
    assert.match(warnings.join(), /"\$request\.header\.x-other" never resolves/);
  });

  function faultOf(text: unknown): string {
    try {
      of(text);
    } catch (error) {
      assert(error instanceof ContractError);
      return error.message;
    }
    return assert.fail(`${String(text)} was accepted`);
  }
});

describe('compileExpires', () => {
  it('takes an ISO 8601 duration of up to 10 years', () => {
    const dayMs = 86_400_000;
    const texts = ['PT1S', 'P7D', 'P10Y'];
    const found = texts.map((text) => compile({ 'x-ringback-expires': text }).expiresMs);
    assert.deepEqual(found, [1_000, 7 * dayMs, 3_650 * dayMs]);
  });

  it('refuses anything else, and says what was expected', () => {
    for (const wrong of ['7d', 'P0D', 'P10Y1D', 'P', 7, null, '']) {
      assert.throws(() => compile({ 'x-ringback-expires': wrong }), {
        name: 'ContractError',
        message:
          /Cannot read the expiry at .*: it is .*, expected an ISO 8601 duration such as "P7D"/,
      });
    }
  });
});
