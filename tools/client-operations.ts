// The operations of openapi.yaml that ringback/client offers: all except HTML pages and sessions.
import { listAt, namesAt, textAt, treeAt, type Tree } from './schema-type.ts';

export interface ClientOperation {
  id: string;
  tag: string;
  summary: string;
  method: string;
  path: string;
  repeat: 'free' | 'keyed' | 'once';
  joined: string[];
  pathNames: string[];
  query: Given | undefined;
  body: Given | undefined;
  answer: { kind: 'json' | 'text' | 'nothing' | 'stream'; type: string };
  /** Members that every successful answer has. */
  members: string[];
  /** Types declared inline in the operation, by the names that they get. */
  named: Map<string, { schema: Tree; isAsked: boolean }>;
  /** Named types of the contract that it refers to. */
  refs: string[];
}

interface Given {
  type: string;
  isNeeded: boolean;
}

/** POST operations that are documented as idempotent. */
const repeatable = ['unsubscribeOperation', 'confirmSubscription', 'cancelReplay'];

export function clientOperations(document: Tree): ClientOperation[] {
  const paths = treeAt(document, 'paths');
  return Object.keys(paths).flatMap((path) => {
    const item = treeAt(paths, path);
    return ['get', 'post', 'put', 'patch', 'delete']
      .filter((method) => method in item)
      .map((method) => readOperation(document, { path, method }))
      .filter((operation) => operation !== undefined);
  });
}

function readOperation(
  document: Tree,
  { path, method }: { path: string; method: string },
): ClientOperation | undefined {
  const item = treeAt(treeAt(document, 'paths'), path);
  const operation = treeAt(item, method);
  const tag = namesAt(operation, 'tags')[0] ?? '';
  const id = textAt(operation, 'operationId') ?? '';
  const answers = answersOf(document, operation);
  const isForPages = tag === 'Console' || path.startsWith('/portal/');
  if (isForPages || answers.some(({ media }) => media === 'text/html')) return undefined;
  const named: ClientOperation['named'] = new Map();
  const refs: string[] = [];
  const parameters = [...listAt(item, 'parameters'), ...listAt(operation, 'parameters')].map(
    (parameter) => follow(document, parameter),
  );
  /** The name of a type: the contract's own, or a new one for an inline schema. */
  const nameIt = (schema: Tree, name: string, isAsked: boolean): string => {
    const ref = textAt(schema, '$ref')?.split('/').at(-1);
    if (ref === undefined) named.set(name, { schema, isAsked });
    else refs.push(ref);
    return ref ?? name;
  };
  return {
    id,
    tag,
    summary: textAt(operation, 'summary') ?? '',
    method: method.toUpperCase(),
    path,
    repeat: repeatOf(id, method, parameters),
    joined: parameters.filter(isJoined).map(nameOf),
    pathNames: parametersIn(parameters, 'path').map(nameOf),
    query: queryOf(parametersIn(parameters, 'query'), (schema) =>
      nameIt(schema, `${pascal(id)}Query`, true),
    ),
    body: bodyOf(document, operation, (schema, name) =>
      nameIt(schema, `${pascal(name ?? id)}Body`, true),
    ),
    answer: answerOf(answers, (schema, { component, status }) => {
      const isOnly = answers.length === 1;
      return nameIt(schema, component ?? `${pascal(id)}${isOnly ? 'Answer' : status}`, false);
    }),
    members: inAll(answers.map(({ schema }) => membersOf(document, schema))),
    named,
    refs,
  };
}

/** What a schema requires in all of its variants. */
function membersOf(document: Tree, given: Tree): string[] {
  const schema = follow(document, given);
  const listed = (key: string): string[][] =>
    listAt(schema, key).map((one) => membersOf(document, one));
  const needed = [
    ...namesAt(schema, 'required'),
    ...listed('allOf').flat(),
    ...inAll(listed('oneOf')),
    ...inAll(listed('anyOf')),
  ];
  return [...new Set(needed)];
}

function inAll(lists: readonly string[][]): string[] {
  const [first = [], ...rest] = lists;
  return first.filter((name) => rest.every((names) => names.includes(name)));
}

function repeatOf(
  id: string,
  method: string,
  parameters: readonly Tree[],
): ClientOperation['repeat'] {
  if (parameters.some((parameter) => nameOf(parameter) === 'Idempotency-Key')) return 'keyed';
  return method !== 'post' || repeatable.includes(id) ? 'free' : 'once';
}

function queryOf(parameters: readonly Tree[], nameIt: (schema: Tree) => string): Given | undefined {
  if (parameters.length === 0) return undefined;
  const properties = parameters.map((parameter): [string, Tree] => {
    const schema = treeAt(parameter, 'schema');
    const description = textAt(parameter, 'description');
    // The parameter's description is more specific than that of its type.
    return [nameOf(parameter), description === undefined ? schema : { ...schema, description }];
  });
  const required = parameters.filter(({ required: is }) => is === true).map(nameOf);
  const schema = { type: 'object', required, properties: Object.fromEntries(properties) };
  return { type: nameIt(schema), isNeeded: required.length > 0 };
}

function bodyOf(
  document: Tree,
  operation: Tree,
  nameIt: (schema: Tree, name: string | undefined) => string,
): Given | undefined {
  if (operation['requestBody'] === undefined) return undefined;
  const given = treeAt(operation, 'requestBody');
  const body = follow(document, given);
  const schema = treeAt(treeAt(treeAt(body, 'content'), 'application/json'), 'schema');
  const type = nameIt(schema, textAt(given, '$ref')?.split('/').at(-1));
  return { type, isNeeded: body['required'] === true };
}

interface Answer {
  status: string;
  /** The name of a response component that several operations share. */
  component: string | undefined;
  media: string | undefined;
  schema: Tree;
}

function answersOf(document: Tree, operation: Tree): Answer[] {
  const responses = treeAt(operation, 'responses');
  const good = Object.keys(responses).filter((status) => status.startsWith('2'));
  return good.map((status) => {
    const given = treeAt(responses, status);
    const content = treeAt(follow(document, given), 'content');
    const [media] = Object.keys(content);
    const schema = media === undefined ? {} : treeAt(treeAt(content, media), 'schema');
    return { status, component: textAt(given, '$ref')?.split('/').at(-1), media, schema };
  });
}

function answerOf(
  answers: readonly Answer[],
  nameIt: (schema: Tree, answer: Answer) => string,
): ClientOperation['answer'] {
  const media = answers[0]?.media;
  if (media === undefined) return { kind: 'nothing', type: 'undefined' };
  if (media === 'text/event-stream') return { kind: 'stream', type: 'never' };
  if (media !== 'application/json') return { kind: 'text', type: 'string' };
  const types = answers.map((answer) => {
    const { schema } = answer;
    if ('nextCursor' in treeAt(schema, 'properties')) {
      const items = treeAt(treeAt(schema, 'properties'), 'items');
      return `Page<${nameIt(treeAt(items, 'items'), answer)}>`;
    }
    const isFree = schema['type'] === 'object' && !('properties' in schema);
    return isFree ? 'Readonly<Record<string, unknown>>' : nameIt(schema, answer);
  });
  return { kind: 'json', type: [...new Set(types)].join(' | ') };
}

function parametersIn(parameters: readonly Tree[], place: string): Tree[] {
  return parameters.filter((parameter) => parameter['in'] === place);
}

/** Lists in queries repeat the name, unless the contract says `explode: false`. */
function isJoined(parameter: Tree): boolean {
  return parameter['explode'] === false && treeAt(parameter, 'schema')['type'] === 'array';
}

function nameOf(parameter: Tree): string {
  return textAt(parameter, 'name') ?? '';
}

function pascal(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function follow(document: Tree, value: Tree): Tree {
  const ref = textAt(value, '$ref');
  if (ref === undefined) return value;
  return ref
    .slice(2)
    .split('/')
    .reduce((tree, key) => treeAt(tree, key), document);
}
