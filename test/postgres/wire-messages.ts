// Splits the bytes of one direction of a connection into PostgreSQL messages. A message is a type byte and
// an int32 length, then the rest; only the first message of a client has no type byte.

/** Clients send the frontend's messages, the server the backend's. */
export type Side = 'frontend' | 'backend';

export interface Message {
  side: Side;
  /** The type byte, or `startup`. */
  type: string;
  bytes: Buffer;
  /** The SQL to run: of a query, or of the statement of an execute message. */
  sql?: string;
  /** The completed command: `COMMIT`, `INSERT 0 1`. */
  tag?: string;
}

/** Reads the next bytes; returns the messages that are now complete. */
export type Reader = (chunk: Buffer) => Message[];

const cancelRequest = 80877102;
const encryptionRequests = [80877103, 80877104];

/** `refuse` answers a client that requests encryption, which this proxy could not read. */
export function frontendReader(refuse: () => void): Reader {
  const run = sqlReader();
  let started = false;
  return reader((take) => {
    if (started) {
      const bytes = take(1);
      return bytes && run({ side: 'frontend', type: typeOf(bytes), bytes });
    }
    let bytes = take(0);
    for (; bytes && encryptionRequests.includes(bytes.readInt32BE(4)); bytes = take(0)) refuse();
    if (bytes === undefined) return undefined;
    started = bytes.readInt32BE(4) !== cancelRequest;
    return { side: 'frontend', type: 'startup', bytes };
  });
}

export function backendReader(): Reader {
  return reader((take) => {
    const bytes = take(1);
    if (bytes === undefined) return undefined;
    const message: Message = { side: 'backend', type: typeOf(bytes), bytes };
    return message.type === 'C' ? { ...message, tag: texts(bytes)[0] ?? '' } : message;
  });
}

/** Returns the next complete message, with so many bytes before its length. */
type Take = (typeBytes: number) => Buffer | undefined;

function reader(next: (take: Take) => Message | undefined): Reader {
  let rest = Buffer.alloc(0);
  const take: Take = (typeBytes) => {
    if (rest.length < typeBytes + 4) return undefined;
    // The length counts itself, but not the type.
    const length = typeBytes + rest.readInt32BE(typeBytes);
    if (rest.length < length) return undefined;
    const bytes = rest.subarray(0, length);
    rest = rest.subarray(length);
    return bytes;
  };
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    const messages: Message[] = [];
    for (let one = next(take); one !== undefined; one = next(take)) messages.push(one);
    return messages;
  };
}

/** Parse assigns SQL to a statement, bind assigns a statement to a portal, execute runs the portal. */
function sqlReader(): (message: Message) => Message {
  const statements = new Map<string, string>();
  const portals = new Map<string, string>();
  return (message) => {
    const [one = '', two = ''] = texts(message.bytes);
    switch (message.type) {
      case 'Q':
        return { ...message, sql: one };
      case 'P':
        statements.set(one, two);
        return message;
      case 'B':
        portals.set(one, statements.get(two) ?? '');
        return message;
      case 'E':
        return { ...message, sql: portals.get(one) ?? '' };
      default:
        return message;
    }
  };
}

function typeOf(bytes: Buffer): string {
  return bytes.toString('latin1', 0, 1);
}

/** The first two strings of a message; each ends with a zero byte. */
function texts(bytes: Buffer): string[] {
  return bytes.toString('utf8', 5).split('\0', 2);
}
