// `ringback event-types`: lists, declares and deletes event types. `ringback types`: prints them as TypeScript.
import { listEventTypes } from '../../api/pages/contract-json.ts';
import type { Client, EventType } from '../../client/client.ts';
import { loadContract } from '../../contract/compile/load.ts';
import { ContractError, isObject } from '../../contract/document/document.ts';
import { explainError } from '../../contract/document/locate.ts';
import { printEvents, type TypedEvent } from '../../contract/report/typescript.ts';
import { readJson } from '../../core/base/json.ts';
import { guess } from '../../core/errors/did-you-mean.ts';
import { limits } from '../../core/limits/limits.ts';
import type { Invocation } from '../declare/command.ts';
import { refuseBeside } from '../declare/flags.ts';
import { readAll, sourceOf } from '../service/text-source.ts';
import { json, paintState, stateColumn, viewOf, type View } from '../service/view.ts';
import { withService } from '../service/with-service.ts';
import { calledWrongly, CliFailure } from '../terminal/failure.ts';
import type { Column } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';

const verbs = ['list', 'put', 'delete'] as const;
const putFlags = ['schema', 'example', 'description', 'deprecated'] as const;

export async function eventTypes(call: Invocation, terminal: Terminal): Promise<void> {
  const [word = 'list', name, ...more] = call.positionals;
  const verb = verbs.find((known) => known === word);
  if (verb === undefined) {
    throw calledWrongly(`Cannot run ringback event-types: found "${word}", ${guess(word, verbs)}`);
  }
  const strange = verb === 'list' ? call.positionals.slice(1) : more;
  if (strange.length > 0) {
    throw calledWrongly(`Cannot ${verb} "${strange.join(' ')}": expected at most one NAME`);
  }
  if (verb !== 'put') refuseBeside(call, verb, [...putFlags]);
  if (verb === 'list') return withService(call, async ({ client }) => list(call, terminal, client));
  if (name === undefined) throw calledWrongly(`Cannot ${verb} an event type: no NAME given`);
  if (verb === 'put') return put(call, terminal, name);
  return withService(call, async ({ client }) => {
    await client.eventTypes.delete(name);
    terminal.out(call.isJson ? json({ event: name }) : `Deleted the event type ${name}.\n`);
  });
}

async function list(call: Invocation, terminal: Terminal, client: Client): Promise<void> {
  const { items } = await client.eventTypes.list().page();
  terminal.out(call.isJson ? json({ items }) : viewOf(terminal).table(columns(terminal), items));
}

function columns(terminal: Terminal): Column<EventType>[] {
  const { paint }: View = viewOf(terminal);
  return [
    { title: 'EVENT', show: ({ event }) => event },
    stateColumn(paint),
    { title: 'VERSION', show: ({ version }) => String(version ?? ''), isRight: true, rank: 7 },
    { title: 'SOURCE', show: ({ source }) => source, rank: 6 },
    { title: 'CONTRACT', show: ({ contract }) => contract, rank: 5, shrinksTo: 12 },
    { title: 'DESCRIPTION', show: ({ description = '' }) => description, rank: 8, shrinksTo: 16 },
  ];
}

async function put(call: Invocation, terminal: Terminal, name: string): Promise<void> {
  const file = call.text('schema');
  if (file === undefined) throw calledWrongly('Cannot put an event type: --schema is missing');
  const schema = await readFile(file, terminal);
  if (!isObject(schema)) {
    throw new CliFailure(`Cannot use the schema in "${file}": expected a JSON object`);
  }
  const example = call.text('example');
  const type = {
    schema,
    description: call.text('description'),
    ...(example === undefined ? {} : { example: await readFile(example, terminal) }),
    state: call.isOn('deprecated') ? ('deprecated' as const) : ('active' as const),
  };
  await withService(call, async ({ client }) => {
    const { version, state, ...declared } = await client.eventTypes.put(name, type);
    if (call.isJson) return terminal.out(json({ ...declared, state, version }));
    const { paint } = viewOf(terminal);
    terminal.out(`Declared ${name}: version ${version}, ${paintState(paint, state)}.\n`);
  });
}

async function readFile(file: string, terminal: Terminal): Promise<unknown> {
  const reading = readJson(await readAll(sourceOf(file, terminal), limits.inputBytesMax));
  if (reading.kind === 'value') return reading.value;
  throw new CliFailure(`Cannot read "${file}": it ${reading.message}, expected JSON`);
}

export async function types(call: Invocation, terminal: Terminal): Promise<void> {
  const files = call.positionals;
  const events =
    files.length === 0
      ? await withService(call, async ({ client }) => (await client.eventTypes.list().page()).items)
      : (await Promise.all(files.map(async (file) => eventsOf(file, call)))).flat();
  const printed = printEvents(events);
  terminal.out(call.isJson ? json({ types: printed }) : printed);
}

async function eventsOf(file: string, call: Invocation): Promise<readonly TypedEvent[]> {
  const contractRoot = call.text('contract-root');
  try {
    const contract = await loadContract(file, { contractRoot });
    const items: TypedEvent[] = JSON.parse(`[${listEventTypes(contract)}]`);
    return items;
  } catch (error) {
    if (error instanceof ContractError) throw new CliFailure(explainError(error), { cause: error });
    throw error;
  }
}
