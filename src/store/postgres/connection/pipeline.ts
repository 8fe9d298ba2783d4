// Pipelining: queries of one turn of the event loop are sent and answered as one packet. The driver
// would end each statement with a Sync, so the server would answer each with a write of its
// own, wake this process each time, and describe the columns again.
//
// After a failed statement the rest of its packet is skipped. Outside of a transaction a packet is
// one implicit transaction.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { Query, type Client, type Connection, type FieldDef } from 'pg';
import type { Row } from '../../sql/row.ts';

/** Sent with everything else that is asked in this turn, in the order of the calls. */
export async function pipelineQuery(
  client: Client,
  sql: string,
  values: readonly Parameter[],
): Promise<readonly Row[]> {
  const { promise, resolve, reject } = Promise.withResolvers<readonly Row[]>();
  const queued = { statement: statement(sql), values: values.map(toWire), resolve, reject };
  const queue = waiting.get(client);
  if (queue === undefined) {
    waiting.set(client, [queued]);
    process.nextTick(() => flush(client));
  } else queue.push(queued);
  return promise;
}

/**
 * Inside of a transaction: statements so far are answered as soon as they are done, before the
 * rest.
 */
export function flushResponses(client: Client): void {
  const last = waiting.get(client)?.at(-1);
  if (last !== undefined) last.needsFlush = true;
}

/**
 * Sends `text` behind the queued statements, in one write with them. For commit and rollback, which
 * must run even if those fail.
 */
export async function sendText(client: Client, text: string): Promise<{ command: string }> {
  const { stream } = client.connection;
  stream.cork();
  try {
    flush(client);
    return client.query(text);
  } finally {
    stream.uncork();
  }
}

function flush(client: Client): void {
  const queue = waiting.get(client);
  if (queue === undefined) return;
  waiting.delete(client);
  client.query(new Pipeline(client, queue));
}

/** Statements to send at the end of this turn. */
const waiting = new WeakMap<Client, QueuedStatement[]>();

interface QueuedStatement {
  statement: NamedStatement;
  values: WireValue[];
  resolve: (rows: readonly Row[]) => void;
  reject: (cause: unknown) => void;
  needsFlush?: true;
}

/** What a connection knows of a statement. */
interface Prepared {
  /** `doubtful`: its first use has failed, perhaps before it was prepared. */
  state: 'doubtful' | 'prepared';
  columns: readonly Column[] | undefined;
}

interface Column {
  name: string;
  read: (text: string) => unknown;
}

const preparedOn = new WeakMap<Client, Map<string, Prepared>>();

/** The driver calls these methods; while pipelining it accepts only subclasses of its own Query. */
class Pipeline extends Query {
  readonly #client: Client;
  readonly #queued: readonly QueuedStatement[];
  readonly #prepared: Map<string, Prepared>;
  /** Names of the statements that this packet prepares. */
  readonly #news = new Set<string>();
  readonly #answers: Row[][] = [];
  #rows: Row[] = [];
  #cause: unknown;
  /** Set by the driver: ends the query timeout. */
  callback: ((error: unknown) => void) | undefined;

  constructor(client: Client, queued: readonly QueuedStatement[]) {
    super('');
    this.#client = client;
    this.#queued = queued;
    this.#prepared = preparedOn.get(client) ?? new Map<string, Prepared>();
    preparedOn.set(client, this.#prepared);
  }

  override submit = (connection: Connection): undefined => {
    connection.stream.cork();
    try {
      for (const queued of this.#queued) this.#write(connection, queued);
      connection.sync();
    } finally {
      connection.stream.uncork();
    }
  };

  handleRowDescription({ fields }: { fields: readonly FieldDef[] }): void {
    this.#describe(
      fields.map(({ name, dataTypeID }) => {
        return { name, read: this.#client.getTypeParser(dataTypeID, 'text') };
      }),
    );
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    const row: Record<string, unknown> = {};
    try {
      const columns = this.#current()?.columns;
      assert(columns?.length === fields.length, 'A row has the columns that were described');
      for (const [i, { name, read }] of columns.entries()) {
        const field = fields[i] ?? null;
        row[name] = field === null ? null : read(field);
      }
    } catch (error) {
      this.#cause ??= error; // The statement has run, but its rows cannot be read.
    }
    this.#rows.push(row);
  }

  handleCommandComplete(): void {
    if (this.#current()?.columns === undefined) this.#describe([]);
    const needsFlush = this.#queued[this.#answers.length]?.needsFlush;
    this.#answers.push(this.#rows);
    this.#rows = [];
    if (needsFlush === true) this.#answer();
  }

  handleReadyForQuery(): void {
    this.callback?.(undefined);
    this.#answer();
  }

  handleError(error: unknown): void {
    for (const { statement: named } of this.#queued.slice(this.#answers.length)) {
      const prepared = this.#prepared.get(named.name);
      if (prepared !== undefined && this.#news.has(named.name)) prepared.state = 'doubtful';
    }
    this.callback?.(error);
    for (const { reject } of this.#queued) reject(error);
  }

  /** Resolves every statement that is done. */
  #answer(): void {
    for (const [i, rows] of this.#answers.entries()) {
      if (this.#cause === undefined) this.#queued[i]?.resolve(rows);
      else this.#queued[i]?.reject(this.#cause);
    }
  }

  #write(connection: Connection, { statement: named, values, needsFlush }: QueuedStatement): void {
    this.#prepare(connection, named);
    connection.bind({ statement: named.name, values }, true);
    const { columns } = this.#prepared.get(named.name) ?? {};
    if (columns === undefined) connection.describe({ type: 'P', name: '' }, true);
    connection.execute(null, true);
    if (needsFlush === true) connection.flush();
  }

  #prepare(connection: Connection, { name, text }: NamedStatement): void {
    const before = this.#prepared.get(name)?.state;
    if (before === 'prepared') return;
    if (before === 'doubtful') connection.close({ type: 'S', name }, true);
    connection.parse({ name, text, types: [] }, true);
    this.#prepared.set(name, { state: 'prepared', columns: undefined });
    this.#news.add(name);
  }

  #current(): Prepared | undefined {
    const queued = this.#queued[this.#answers.length];
    return queued && this.#prepared.get(queued.statement.name);
  }

  #describe(columns: readonly Column[]): void {
    const prepared = this.#current();
    if (prepared !== undefined) prepared.columns = columns;
  }
}

// Named statements: the server parses and plans each one once per connection.

interface NamedStatement {
  name: string;
  text: string;
}

/**
 * The same text has the same name in every process, because behind a pooler two nodes may share a
 * connection. Every text is cached, so texts must be constants of the program.
 */
export function statement(sql: string): NamedStatement {
  const cached = statements.get(sql);
  if (cached !== undefined) return cached;
  const hash = createHash('sha256').update(sql).digest('hex').slice(0, 16);
  const made = { name: `rb_${hash}`, text: sql };
  statements.set(sql, made);
  return made;
}

const statements = new Map<string, NamedStatement>();

// Encodes parameters: arrays are printed here as the text that the server parses, because the
// driver escapes every element by itself, which shows in profiles (docs/performance.md).

/** Columns of many rows are sent as arrays and expanded by `unnest`. */
export type Parameter = Single | readonly Single[];

type Single = string | number | boolean | Uint8Array | null;

/** As the server reads it. */
export type WireValue = string | Buffer | null;

export function toWire(value: Parameter): WireValue {
  if (isList(value)) return printList(value);
  if (value === null) return null;
  return value instanceof Uint8Array ? toBuffer(value) : String(value);
}

function isList(value: Parameter): value is readonly Single[] {
  return Array.isArray(value);
}

/** The driver sends a Buffer as bytes, but prints any other view of bytes as an object. */
function toBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/**
 * Prints a list of texts with JSON.stringify, which is several times as fast as escaping each one.
 * PostgreSQL reads the result the same way if its only escapes are `\"` and `\\`.
 */
function printList(list: readonly Single[]): string {
  if (list.every((value) => value === null || typeof value === 'string')) {
    const json = JSON.stringify(list);
    if (!otherEscape.test(json)) return `{${json.slice(1, -1)}}`;
  }
  return `{${list.map(toElement).join()}}`;
}

function toElement(value: Single): string {
  if (value === null) return 'null';
  if (value instanceof Uint8Array) return `"\\\\x${toBuffer(value).toString('hex')}"`;
  if (typeof value !== 'string') return String(value);
  return `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

/**
 * An escape for a control character or a lone surrogate. May also match behind an escaped
 * backslash, which is only slower.
 */
const otherEscape = /\\[bfnrtu]/;
