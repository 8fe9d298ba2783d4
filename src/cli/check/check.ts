// `ringback check`: reports what OpenAPI documents would do as contracts, without starting
// anything.
import { besideUpstream } from '../../config.ts';
import { settings, type Setting } from '../../config/settings.ts';
import {
  explainError,
  locateAll,
  locateError,
  type Position,
} from '../../contract/document/locate.ts';
import {
  makeReport,
  type Report,
  type WarningReport,
  type CallbackReport,
  type ExampleRequest,
  type SubscribeReport,
  type UnsubscribeReport,
  type VariantReport,
} from '../../contract/report/report.ts';
import { describeSecurity } from '../../contract/report/descriptions.ts';
import type { Contract } from '../../contract/model/contract.ts';
import { checkContracts, type ContractCheck } from '../../contract/report/check-contracts.ts';
import { contractFiles } from '../../service/contract-files.ts';
import type { Invocation } from '../declare/command.ts';
import { calledWrongly, CliFailure } from '../terminal/failure.ts';
import { harmless, type Paint, painter, type Style, wrap } from '../terminal/text.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** The result for one file. */
export type Checked =
  | (Omit<Report, 'warnings'> & { warnings: readonly (WarningReport & Partial<Position>)[] })
  | { file: string; error: { message: string; pointer: string } & Partial<Position> };

export async function check(call: Invocation, terminal: Terminal): Promise<void> {
  const { positionals: files, isJson } = call;
  if (files.length === 0)
    throw calledWrongly('Cannot check: no FILE given, expected at least one OpenAPI document');
  const settled = chosen(call);
  const { verdicts } = await checkContracts(contractFiles({ contract: files, ...settled }));
  const all = verdicts.map((verdict) => checkedOf(verdict, settled));
  const service = {
    isGateway: settled.upstream !== undefined,
    managePrefix: settled.managePrefix ?? '',
  };
  for (const checked of isJson ? [] : all) {
    terminal.out(showChecked(checked, terminal, service));
  }
  if (isJson) terminal.out(`${JSON.stringify(all, absentAsNull, 2)}\n`);
  const failed = verdicts.filter((one) => one.kind === 'refused' || one.cannotRun.length > 0);
  if (failed.length > 0) throw new CliFailure(summary(failed, all.length));
}

type Settings = Parameters<typeof contractFiles>[0];

interface Chosen extends Omit<Settings, 'contract'> {
  /** Who checks the credentials of requests for an API. */
  upstreamAuth: 'passthrough' | 'keys' | undefined;
}

/** Settings of the service that the verdict depends on. */
function chosen({ text, texts, env }: Invocation): Chosen {
  const listed = env[settings.overlay.env] ?? '';
  const files = listed === '' ? [] : listed.split(',').map((file) => file.trim());
  const overlay = texts('overlay').length > 0 ? texts('overlay') : files;
  const contractRoot = text('contract-root') ?? (env[settings.contractRoot.env] || undefined);
  const take = <T>(flag: string, row: Setting<T>): T | undefined => {
    const given = text(flag) ?? env[row.env] ?? '';
    if (given === '') return undefined;
    const reading = row.read(given);
    if (reading.kind === 'value') return reading.value;
    throw calledWrongly(`Cannot read --${flag} "${given}": ${reading.text}`);
  };
  const upstream = take('upstream', settings.upstream);
  const defaults = besideUpstream(upstream);
  return {
    contractRoot,
    overlay,
    upstream,
    operations: take('operations', settings.operations) ?? defaults.operations,
    managePrefix: take('manage-prefix', settings.managePrefix) ?? defaults.managePrefix,
    upstreamAuth: take('upstream-auth', settings.upstreamAuth),
  };
}

function summary(failed: readonly ContractCheck[], total: number): string {
  if (total === 1) {
    return failed[0]?.kind === 'refused'
      ? 'A service with this document does not start.'
      : 'Some callbacks in this document cannot be executed.';
  }
  const names = failed.map(({ file }) => `  ${file}`).join('\n');
  return `Found problems in ${failed.length} of ${total} files:\n${names}`;
}

/** Members are always present, for programs that read the output. */
function absentAsNull(_name: string, value: unknown): unknown {
  return value === undefined ? null : value;
}

function checkedOf(verdict: ContractCheck, { upstream, upstreamAuth }: Chosen): Checked {
  const { file } = verdict;
  if (verdict.kind === 'loaded') {
    const { contract } = verdict;
    const report = makeReport(contract, file);
    const hasKeys = upstream !== undefined && upstreamAuth === 'keys';
    return withPositions(hasKeys ? withKeys(report, contract) : report);
  }
  const { error } = verdict;
  const { pointer } = error;
  return { file, error: { message: explainError(error), pointer, ...locateError(error) } };
}

/** Ringback itself checks the keys of requests for the API. */
function withKeys(report: Report, { operations }: Contract): Report {
  const securityOf = (operationId: string): string =>
    describeSecurity(operations.find((one) => one.operationId === operationId)?.security ?? []);
  const keyed = <T extends { operationId: string }>(one: T): T & { security: string } => ({
    ...one,
    security: `${securityOf(one.operationId)}; checked by Ringback`,
  });
  const { subscribes, unsubscribes } = report;
  return { ...report, subscribes: subscribes.map(keyed), unsubscribes: unsubscribes.map(keyed) };
}

/** Reads each file again, but only those with warnings. */
function withPositions(report: Report): Checked {
  const byFile = Map.groupBy(report.warnings, ({ file }) => file);
  const positions = new Map(
    [...byFile].map(([file, warnings]) => [
      file,
      locateAll(
        file,
        warnings.map(({ pointer }) => pointer),
      ),
    ]),
  );
  const warnings = report.warnings.map((warning) => ({
    ...warning,
    ...positions.get(warning.file)?.get(warning.pointer),
  }));
  return { ...report, warnings };
}

// Shows the result of `ringback check` to people: aligned, in lines that fit the screen.

type Warning = WarningReport & { line?: number; column?: number };

type Shown =
  | (Omit<Report, 'warnings'> & { warnings: readonly Warning[] })
  | { file: string; error: { message: string } };

/** The service that the document is checked for. */
interface Service {
  /** Requests that an API answers come through Ringback. */
  isGateway: boolean;
  /** In front of the paths of Ringback's own API. */
  managePrefix: string;
}

export function showChecked(
  checked: Shown,
  screen: Pick<Terminal, 'isScreen' | 'width'>,
  { isGateway, managePrefix }: Service = { isGateway: false, managePrefix: '' },
): string {
  const subscribe = `POST ${managePrefix}/subscribe`;
  const unsubscribe = `DELETE ${managePrefix}/subscriptions/{id}`;
  const api = { ...(isGateway ? passedOn : answered), subscribe, unsubscribe };
  const shown = 'error' in checked ? errorRows(checked) : reportRows(checked, api);
  const rows = shown.map(withoutControls);
  const lineChars = Math.max(lineCharsMin, Math.min(lineCharsMax, screen.width()));
  const paint = painter(screen);
  const width = Math.min(
    Math.floor(lineChars * labelShare),
    Math.max(...rows.map(({ indent, label = '' }) => indent + label.length)),
  );
  return `${rows.flatMap((row) => render(row, { width, lineChars, paint })).join('\n')}\n\n`;
}

/** What becomes of the requests that an API answers. */
interface ApiWords {
  /** Of an operation with callbacks, and of one that ends subscriptions. */
  row: Row;
  endingRow: Row;
  others: string;
  /** Ringback's own operations that make and end a subscription. */
  subscribe: string;
  unsubscribe: string;
}

const passedOn: Omit<ApiWords, 'subscribe' | 'unsubscribe'> = {
  row: {
    indent: 4,
    label: 'passed on',
    text: 'to the API unchanged, with the header Ringback-Subscription in request and answer',
  },
  endingRow: {
    indent: 4,
    label: 'passed on',
    text: 'to the API, whose answer is returned unchanged',
  },
  others: 'passed on without a further look',
};
const byApi: Row = { indent: 4, label: 'answered', text: 'by the API, not by Ringback' };
const answered: Omit<ApiWords, 'subscribe' | 'unsubscribe'> = {
  row: byApi,
  endingRow: byApi,
  others: 'left to the API',
};

/** A document is foreign text and must not control the terminal. */
function withoutControls(row: Row): Row {
  const { label } = row;
  return { ...row, text: visible(row.text), ...(label !== undefined && { label: visible(label) }) };
}

function visible(text: string): string {
  return harmless(text.replaceAll(/\s+/gu, ' '));
}

/** A line of text, with or without a label. */
interface Row {
  indent: number;
  label?: string;
  text: string;
  style?: Style;
  /** Cut to one line, at its end or its start, instead of wrapped. */
  cut?: 'end' | 'start';
}

const lineCharsMax = 100;
const lineCharsMin = 40;
/** The label takes at most this part of a line. */
const labelShare = 0.32;

function errorRows({ file, error }: Extract<Shown, { error: unknown }>): Row[] {
  return [
    { indent: 0, text: file, style: 'bold' },
    { indent: 2, text: 'Cannot start a service with it:', style: 'red' },
    { indent: 4, text: error.message },
  ];
}

function reportRows(report: Exclude<Shown, { error: unknown }>, api: ApiWords): Row[] {
  const { file, title, version, openapi, subscribes, unsubscribes, warnings } = report;
  const about = [title, version].filter((part) => part !== '').join(' ');
  return [
    { indent: 0, text: file, style: 'bold' },
    { indent: 2, text: openapi === '' ? about : `${about}, OpenAPI ${openapi}` },
    ...subscribes.flatMap((one) => subscribeRows(one, api)),
    ...unsubscribes.flatMap((one) => unsubscribeRows(one, api)),
    ...eventRows(report),
    ...warningRows(warnings),
    ...endRows(report, api),
  ];
}

function subscribeRows(
  { method, path, variants, ...operation }: SubscribeReport,
  api: ApiWords,
): Row[] {
  return [
    blank,
    { indent: 2, text: `${method} ${path}`, style: 'bold' },
    keyRow(operation),
    ...registeredRows(operation, api),
    ...variants.flatMap(variantRows),
    ...undeclaredRows(operation),
  ];
}

/** What is registered when an API has answered, and what ends it. */
function registeredRows(
  { accepts, subject, customer, ends }: Omit<SubscribeReport, 'method' | 'path' | 'variants'>,
  api: ApiWords,
): Row[] {
  const always = `its receivers, and ${api.unsubscribe}`;
  const ended = ends.length === 0 ? `only ${always}` : `${ends.join('; ')}; ${always}`;
  const endedBy: Row = { indent: 4, label: 'ended by', text: ended };
  const whose = textRow('customer', customer);
  if (accepts === undefined) {
    const declared = [...textRow('subject', subject), ...whose];
    return declared.length === 0 ? [] : [...declared, endedBy];
  }
  const registered = `if the request has a callback URL and the API answers ${accepts}`;
  const none = 'none, so its subscriptions receive the events of all subjects';
  const rows = [...textRow('registered', registered), ...textRow('subject', subject ?? none)];
  return [api.row, ...rows, ...whose, endedBy];
}

function textRow(label: string, text: string | undefined): Row[] {
  return text === undefined ? [] : [{ indent: 4, label, text }];
}

const blank: Row = { indent: 0, text: '' };

function keyRow({ security, scope }: Pick<SubscribeReport, 'security' | 'scope'>): Row {
  const isShut = security.startsWith('cannot');
  const text = scope === undefined ? security : `${security}; scope ${scope}`;
  return { indent: 4, label: 'key', text, ...(isShut && { style: 'red' }) };
}

function variantRows({ name, needs, needsAny, status, callbacks, example }: VariantReport): Row[] {
  const any = needsAny.length === 0 ? [] : [`one of ${needsAny.join(', ')}`];
  const needed = [...needs, ...any];
  const needsText = needed.length === 0 ? '' : `needs ${needed.join(' and ')}; `;
  const label = name === '' ? 'response' : `variant ${name}`;
  const returns = name === '' ? `${status}` : `returns ${status}`;
  const text = status === undefined ? needsText.replace(/; $/u, '') : needsText + returns;
  return [
    ...(text === '' ? [] : [{ indent: 4, label, text }]),
    ...callbacks.flatMap(callbackRows),
    ...exampleRows(example),
  ];
}

function callbackRows({ label, does, matches, ...callback }: CallbackReport): Row[] {
  const { inactive, repairs, sends, unsubscribeStatus, isFinal } = callback;
  const final = isFinal ? '; final: once it is delivered or dead, the subscription ends' : '';
  const ends =
    unsubscribeStatus === 410 ? '' : `; status ${unsubscribeStatus} from the receiver unsubscribes`;
  if (inactive !== undefined) {
    return [{ indent: 6, label, text: `inactive: ${inactive}`, style: 'yellow' }];
  }
  return [
    { indent: 6, label, text: `${does}, matches ${matches}${ends}${final}` },
    ...sends.map((one): Row => {
      const kind = one.isCredential ? 'credential, ' : '';
      const text = `with ${one.in} ${one.name}: ${kind}${one.value}`;
      return { indent: 6, label: '', text, style: 'dim' };
    }),
    ...repairs.map((repair): Row => ({ indent: 6, label: '', text: repair, style: 'dim' })),
  ];
}

function exampleRows(example: ExampleRequest): Row[] {
  if (example.kind === 'none') {
    return [{ indent: 6, label: 'example', text: `none: ${example.why}`, style: 'dim' }];
  }
  const { method, target, headers, body } = example;
  const own = Object.entries(headers).filter(
    ([name, value]) => name !== 'content-type' || value !== 'application/json',
  );
  const lines = [
    `${method} ${target}`,
    ...own.map(([name, value]) => `${name}: ${value}`),
    ...(body === undefined ? [] : [body]),
  ];
  return lines.map((text, index) => ({
    indent: 6,
    label: index === 0 ? 'example' : '',
    text,
    style: 'dim',
    cut: 'end',
  }));
}

function unsubscribeRows(
  { method, path, takes, status, ...operation }: UnsubscribeReport,
  api: ApiWords,
): Row[] {
  const statuses = method === 'DELETE' ? '2xx, 404 or 410' : '2xx';
  const subject = `the subscriptions whose subject or id is ${takes}, if the API answers ${statuses}`;
  return [
    blank,
    { indent: 2, text: `${method} ${path}`, style: 'bold' },
    keyRow(operation),
    ...(status === undefined
      ? [api.endingRow, { indent: 4, label: 'ends', text: subject }]
      : [
          { indent: 4, label: 'ends', text: `the subscription named by ${takes}` },
          { indent: 4, label: 'response', text: String(status) },
        ]),
    ...undeclaredRows(operation),
  ];
}

function undeclaredRows({ undeclared }: Pick<SubscribeReport, 'undeclared'>): Row[] {
  if (undeclared.length === 0) return [];
  const text = `${undeclared.join(', ')}: not declared, sent as problem+json`;
  return [{ indent: 4, label: 'errors', text, style: 'dim' }];
}

function eventRows({ events, webhooks }: Pick<Report, 'events' | 'webhooks'>): Row[] {
  const all = [...events, ...webhooks.map((one) => ({ ...one, name: one.event }))];
  if (all.length === 0) return [];
  const rows = all.map(({ event, name, payload }): Row => {
    const isPattern = event !== name;
    const label = event === '*' ? 'any name' : event.includes('{') ? 'by request' : event;
    const text =
      payload.kind === 'sample' ? JSON.stringify(payload.value) : `no example: ${payload.why}`;
    const such = isPattern && event !== '*' && !event.includes('{') ? `for example ${name}: ` : '';
    return payload.kind === 'sample'
      ? { indent: 4, label, text: such + text, cut: 'end' }
      : { indent: 4, label, text: such + text, style: 'yellow' };
  });
  return [
    blank,
    { indent: 2, text: 'Publishable events, with an example payload', style: 'bold' },
    ...rows,
  ];
}

/** A warning that occurs at several places is shown once. */
function warningRows(warnings: readonly Warning[]): Row[] {
  if (warnings.length === 0) return [];
  const groups = Map.groupBy(warnings, ({ kind, message }) => `${kind} ${message}`);
  const rows = [...groups.values()].flatMap((group): Row[] => {
    const [first] = group;
    const word = first?.kind === 'repair' ? 'repaired: ' : '';
    const more = group.length - placesShownMax;
    const others = `and at ${count(more, 'other location')}`;
    return [
      ...group.slice(0, placesShownMax).flatMap(placeRows),
      ...(more > 0 ? [{ indent: 4, text: others } as const] : []),
      { indent: 6, text: word + (first?.message ?? ''), style: 'yellow' },
    ];
  });
  return [blank, { indent: 2, text: 'Warnings', style: 'bold' }, ...rows];
}

const placesShownMax = 3;

/** A long pointer is cut at its start, because its end says most. */
function placeRows({ file, line, column, pointer }: Warning): Row[] {
  const position = line === undefined ? file : `${file}:${line}:${column}`;
  return [
    { indent: 4, text: position },
    { indent: 6, text: pointer, style: 'dim', cut: 'start' },
  ];
}

function endRows(report: Exclude<Shown, { error: unknown }>, api: ApiWords): Row[] {
  const { owner, subscribes, unsubscribes, webhooks, otherOperations, cannotRun } = report;
  const callbacks = subscribes.flatMap(({ variants }) => variants.flatMap((one) => one.callbacks));
  const active = callbacks.filter(({ inactive }) => inactive === undefined).length;
  const left = owner === 'api' ? ` ${api.others}` : '';
  const others =
    otherOperations === 0 ? '' : `; ${count(otherOperations, 'other operation')}${left}`;
  const hooks = webhooks.length === 0 ? '' : count(webhooks.length, 'webhook');
  const can =
    subscribes.length === 0
      ? `${hooks === '' ? 'Nothing to execute' : `Executable: ${hooks}`}: no operation has callbacks${others}`
      : `Executable: ${active} of ${count(callbacks.length, 'callback')} in ` +
        `${count(subscribes.length, 'operation')}${hooks && `, and ${hooks}`}${others}`;
  return [
    blank,
    {
      indent: 2,
      text: can,
      style: cannotRun.length === 0 && active + webhooks.length > 0 ? 'green' : 'yellow',
    },
    ...(webhooks.length === 0 ? [] : [webhooksRow(api)]),
    ...(active > 0 && unsubscribes.length === 0 ? [noEndRow(api)] : []),
    ...(cannotRun.length === 0
      ? []
      : [{ indent: 2, text: 'Not executable:', style: 'red' } as const]),
    ...cannotRun.map((text): Row => ({ indent: 4, text })),
  ];
}

function webhooksRow({ subscribe }: ApiWords): Row {
  return { indent: 2, text: `Webhooks are subscribed to with Ringback’s own ${subscribe}.` };
}

function noEndRow({ unsubscribe }: ApiWords): Row {
  return {
    indent: 2,
    text: `No operation ends a subscription; use Ringback’s own ${unsubscribe}.`,
  };
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

function render(
  { indent, label, text, style, cut }: Row,
  { width, lineChars, paint }: { width: number; lineChars: number; paint: Paint },
): string[] {
  const column = label === undefined ? indent : width + 2;
  const room = lineChars - column;
  const lines = cut === undefined ? wrap(text, room) : [shorten(text, room, cut)];
  const styled = lines.map((line) => (style === undefined ? line : paint(style, line)));
  const head = label === undefined ? ' '.repeat(indent) : `${' '.repeat(indent)}${label}`;
  const isLong = head.length > width && label !== undefined;
  const [first = '', ...others] = styled;
  const pad = ' '.repeat(column);
  const rest = others.map((line) => pad + line);
  if (isLong) return [head, pad + first, ...rest];
  return [`${head.padEnd(column)}${first}`.trimEnd(), ...rest];
}

function shorten(text: string, room: number, end: 'end' | 'start'): string {
  const chars = Array.from(text);
  if (chars.length <= room) return text;
  const isEnd = end === 'end';
  const kept = isEnd ? chars.slice(0, room - 1) : chars.slice(1 - room);
  return isEnd ? `${kept.join('')}…` : `…${kept.join('')}`;
}
