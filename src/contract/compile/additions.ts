// What a callback operation declares beyond its body: parameters and security. Each becomes a value
// that is built once, from the subscribe request. What names no value is reported and not sent.
import { printPointer } from '../../core/base/pointer.ts';
import { headerNameFault } from '../../core/domain/callback-headers.ts';
import { at, child, entries, errorAt, items, rootOf, text, warn } from '../document/ref-node.ts';
import type { RefNode } from '../document/ref-node.ts';
import { isList } from '../document/document.ts';
import type { Expression } from '../expression/expression.ts';
import { expressionsOf, parseTemplate, printTemplate } from '../expression/template.ts';
import type { Template } from '../expression/template.ts';
import type { Addition } from '../model/contract.ts';
import type { DeclaredOperation } from '../model/declared-operations.ts';
import { declaredBy } from './declared.ts';
import { checkVisible } from './check-expressions.ts';

interface CallbackNode {
  /** The callback path item, and one operation of it. */
  item: RefNode;
  place: RefNode;
  draft: DeclaredOperation;
}

interface CallbackParameter {
  in: string;
  name: string;
  required: boolean;
  value: Template | undefined;
  place: RefNode;
}

/** The operation's own parameters replace those of the path item. */
function parametersOf({ item, place, draft }: CallbackNode): CallbackParameter[] {
  const found = new Map<string, CallbackParameter>();
  for (const holder of [item, place]) {
    for (const one of items(child(holder, 'parameters'))) {
      const [kind, name] = [text(one, 'in'), text(one, 'name')];
      if (kind === undefined || name === undefined || name === '') continue;
      const required = kind === 'path' || child(one, 'required')?.value === true;
      const value = valueOf(one);
      checkVisible(expressionsOf(value ?? []), one, draft);
      found.set(`${kind} ${name}`, { in: kind, name, required, value, place: one });
    }
  }
  return [...found.values()];
}

/** The key with the values of the callback's own path parameters. */
export function fillPath(key: string, it: CallbackNode): string {
  if (!/\{[^$}]/u.test(key)) return key;
  return parametersOf(it).reduce((filled, { in: kind, name, value }) => {
    if (kind !== 'path' || value === undefined) return filled;
    return filled.replaceAll(`{${name}}`, () => printTemplate(value));
  }, key);
}

export function compileAdditions(it: CallbackNode, target: Template | undefined): Addition[] {
  return [...parametersOf(it).flatMap(compileParameter), ...compileSecurity(it, target)];
}

/** The specification says that declarations of these headers are ignored. */
const ignored = /^(?:accept|content-type|authorization)$/iu;

function compileParameter({
  in: kind,
  name,
  required,
  value,
  place,
}: CallbackParameter): Addition[] {
  if (kind === 'path' || (kind === 'header' && ignored.test(name))) return [];
  if (kind !== 'query' && kind !== 'header' && kind !== 'cookie') return [];
  if (value === undefined) {
    if (required) {
      const how = 'expected x-ringback-value, a default, a const or an enum of one value';
      warn(place, `is required, but nothing says what to send: ${how}; it is not sent`);
    }
    return [];
  }
  const fault = kind === 'header' ? headerNameFault(name) : cookieFault(kind, name);
  if (fault !== undefined) {
    warn(place, `is not sent: ${JSON.stringify(name)} ${fault}`);
    return [];
  }
  return [
    {
      in: kind,
      name,
      required,
      value,
      form: 'plain',
      isCredential: false,
      alternative: undefined,
      expires: undefined,
      secrets: [],
    },
  ];
}

function cookieFault(kind: string, name: string): string | undefined {
  if (kind === 'query' || /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/u.test(name)) return undefined;
  return 'is not a cookie name';
}

/**
 * What to send: `x-ringback-value`, or the only value that the schema allows or prefers. An example
 * counts only if it is made of runtime expressions.
 */
function valueOf(place: RefNode): Template | undefined {
  const own = child(place, 'x-ringback-value');
  if (own !== undefined) return templateAt(own);
  const schema = child(place, 'schema');
  const choices = schema && child(schema, 'enum')?.value;
  const only = isList(choices) && choices.length === 1 ? choices[0] : undefined;
  const fixed =
    schema && (child(schema, 'const')?.value ?? only ?? child(schema, 'default')?.value);
  if (['string', 'number', 'boolean'].includes(typeof fixed)) return templateOf(String(fixed));
  for (const holder of [place, schema]) {
    const example = text(holder, 'example');
    const template = example === undefined ? undefined : templateOf(example);
    if (template !== undefined && expressionsOf(template).length > 0) return template;
  }
  return undefined;
}

function templateAt(place: RefNode): Template {
  const { value } = place;
  const parsed = ['string', 'number', 'boolean'].includes(typeof value)
    ? parseTemplate(String(value))
    : undefined;
  if (parsed?.kind === 'parsed') return parsed.template;
  throw errorAt(place, 'read the value', 'expected a text, with expressions in braces');
}

/** Text with braces that are no expressions is literal. */
function templateOf(written: string): Template {
  const parsed = parseTemplate(written);
  return parsed.kind === 'parsed' ? parsed.template : [{ kind: 'text', text: written }];
}

// Credentials: the alternatives of the callback's own `security` whose schemes all have a source.

function compileSecurity(it: CallbackNode, target: Template | undefined): Addition[] {
  const { place } = it;
  const security = child(place, 'security');
  if (security === undefined) return [];
  const alternatives = items(security).map((one) => entries(one).map(([name]) => name));
  const able = alternatives.flatMap((names, alternative) => {
    const sent = names.flatMap((name) => compileScheme(name, it, target) ?? []);
    return sent.length < names.length ? [] : sent.map((one) => ({ ...one, alternative }));
  });
  if (able.length > 0) return able;
  const [first] = alternatives;
  if (first !== undefined && alternatives.every((names) => names.length > 0)) {
    const lacking = first.filter((name) => compileScheme(name, it, target) === undefined);
    const what = lacking.map((name) => wantedBy(name, it, target)).join('; ');
    warn(security, `requires a credential, but nothing says which; none is sent. ${what}`);
  }
  return [];
}

/** What the document must say so that a callback can send the credential of the scheme. */
function wantedBy(name: string, it: CallbackNode, target: Template | undefined): string {
  const quoted = JSON.stringify(name);
  const scheme = at(rootOf(it.place), 'components', 'securitySchemes', name);
  if (scheme === undefined) return `The security scheme ${quoted} is not declared`;
  const carrier = carrierOf(scheme);
  if (carrier === undefined) return `The security scheme ${quoted} cannot be sent in a request`;
  const beside = credentialBeside(it.draft, target) ?? [];
  const read = (property: string): string =>
    `{$request.body#${printPointer([...beside, property])}}`;
  const example =
    carrier.form === 'basic' ? `${read('user')}:${read('password')}` : read('credential');
  return (
    `Add x-ringback-value to the security scheme ${quoted}, with an expression for the property of the ` +
    `request that has the credential, such as x-ringback-value: '${example}'`
  );
}

function compileScheme(
  name: string,
  it: CallbackNode,
  target: Template | undefined,
): Omit<Addition, 'alternative'> | undefined {
  const scheme = at(rootOf(it.place), 'components', 'securitySchemes', name);
  if (scheme === undefined) return undefined;
  const carrier = carrierOf(scheme);
  if (carrier === undefined) return undefined;
  const own = child(scheme, 'x-ringback-value');
  if (own !== undefined) {
    const value = templateAt(own);
    checkVisible(expressionsOf(value), own, it.draft);
    const sent = { required: false, isCredential: true, expires: undefined };
    return { ...carrier, ...sent, value, secrets: secretsIn(value) };
  }
  const beside = credentialBeside(it.draft, target);
  const property = beside && credentialProperty(beside, it.draft, carrier);
  if (beside === undefined || property === undefined) return undefined;
  return {
    ...carrier,
    value: [{ kind: 'expression', expression: bodyAt(beside, property) }],
    required: false,
    isCredential: true,
    expires: property === 'accessToken' ? bodyAt(beside, 'accessTokenExpiresUtc') : undefined,
    secrets: [beside],
  };
}

/** CAMARA defines `accessToken`; an API key must be declared, as `apiKey` or by the name of its parameter. */
function credentialProperty(
  beside: readonly string[],
  draft: DeclaredOperation,
  { form, name }: Pick<Addition, 'form' | 'name'>,
): string | undefined {
  if (form === 'bearer') return 'accessToken';
  if (form === 'basic') return undefined;
  const { hasProperty } = declaredBy(draft);
  const names = [...new Set([name, 'apiKey', 'api_key'])];
  const [found, ...others] = names.filter((one) => hasProperty([...beside, one]));
  return others.length === 0 ? found : undefined;
}

function carrierOf(scheme: RefNode): Pick<Addition, 'in' | 'name' | 'form'> | undefined {
  const type = text(scheme, 'type');
  const httpScheme = (text(scheme, 'scheme') ?? '').toLowerCase();
  const authorization = { in: 'header', name: 'authorization' } as const;
  if (type === 'oauth2' || type === 'openIdConnect') return { ...authorization, form: 'bearer' };
  if (type === 'http' && httpScheme === 'bearer') return { ...authorization, form: 'bearer' };
  if (type === 'http' && httpScheme === 'basic') return { ...authorization, form: 'basic' };
  const [name, kind] = [text(scheme, 'name') ?? '', text(scheme, 'in')];
  if (type !== 'apiKey') return undefined;
  if (kind === 'query' && name !== '') return { in: kind, name, form: 'plain' };
  if (kind === 'cookie' && cookieFault(kind, name) === undefined) {
    return { in: kind, name, form: 'plain' };
  }
  if (kind === 'header' && headerNameFault(name) === undefined) {
    return { in: kind, name, form: 'plain' };
  }
  warn(scheme, 'names no header, cookie or query parameter that can be sent');
  return undefined;
}

/**
 * CAMARA and CloudEvents: the URL is in `sink`, and its credential in `sinkCredential` beside it.
 */
function credentialBeside(
  draft: DeclaredOperation,
  target: Template | undefined,
): readonly string[] | undefined {
  const [first] = expressionsOf(target ?? []);
  if (first?.kind !== 'body' || first.from === 'response') return undefined;
  const name = first.pointer.at(-1);
  const pointer = [...first.pointer.slice(0, -1), `${name ?? ''}Credential`];
  return name !== undefined && declaredBy(draft).hasProperty(pointer) ? pointer : undefined;
}

function bodyAt(pointer: readonly string[], name: string): Expression {
  return { kind: 'body', from: 'request', pointer: [...pointer, name] };
}

/** The values in the request that must not be shown again. */
function secretsIn(value: Template): (readonly string[])[] {
  return expressionsOf(value).flatMap((one) =>
    one.kind === 'body' && one.from === 'request' ? [one.pointer] : [],
  );
}
