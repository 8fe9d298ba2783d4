// The connections of the server: which one is closed when there are too many, in which order
// answers are sent, and when a connection ends. It must never look at what is requested, nor by
// whom.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { limits } from '../../core/limits/limits.ts';
import type { World } from '../../core/base/world.ts';

export interface Connections {
  /**
   * The connection sent something that is not a request; `refuse` answers it. Earlier requests are
   * answered first, because a pipelining client would take the refusal for the answer to its first
   * request.
   */
  break(socket: Socket, refuse: () => void): void;
  /** A request on a connection that Node's HTTP server does not know. */
  trackRequest(socket: Socket): TrackedRequest;
  /** Node's server takes over the connection, and both count its requests from zero. */
  handedOver(socket: Socket): void;
  /** Destroys all connections. */
  cutAll(): void;
}

export interface TrackedRequest {
  /** No further request is accepted on the connection. */
  isLast: boolean;
  /** Call when the request is answered. */
  end(): void;
}

interface TrackedConnection {
  /** The accepted TCP socket, below TLS. */
  socket: Socket;
  requestCount: number;
  /** Unanswered requests, in order. */
  open: ServerResponse[];
  newest: ServerResponse | undefined;
  /** When the last answer was sent; no further request is expected. */
  refusedMs: number | undefined;
  /** The final refusal, sent when its turn comes. */
  refuse: (() => void) | undefined;
}

export function trackConnections(server: Server, world: Pick<World, 'monotonicMs'>): Connections {
  const state: ConnectionState = { all: new Set(), silent: new Set(), idle: new Set() };
  const tracked = new WeakMap<Socket, TrackedConnection>();
  // The limit of Node's server closes new connections outright; it is for bursts between two checks
  // of ours.
  server.maxConnections = limits.connectionsMax + limits.connectionsSpare;
  server.on('connection', (socket: Socket) => {
    const connection = track(state, socket);
    if (connection !== undefined) tracked.set(socket, connection);
  });
  server.on('secureConnection', (secure: Socket) => {
    const connection = state.all.values().find(({ socket }) => isSame(socket, secure));
    if (connection !== undefined) tracked.set(secure, connection);
  });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const connection = tracked.get(request.socket);
    if (connection !== undefined) addRequest(state, connection, { response, world });
  });
  server.on('dropRequest', (_request, socket: Socket) => {
    const connection = tracked.get(socket);
    if (connection !== undefined) cutOff(connection, { socket, nowMs: world.monotonicMs() });
  });
  return {
    break: (socket, refuse) => {
      const connection = tracked.get(socket);
      if (connection === undefined) refuse();
      else refuseBroken(connection, { socket, refuse, world });
    },
    trackRequest: (socket) => trackRequest(state, tracked.get(socket)),
    handedOver: (socket) => {
      const connection = tracked.get(socket);
      if (connection !== undefined) connection.requestCount = 0;
    },
    cutAll: () => {
      for (const { socket } of state.all) socket.destroy();
    },
  };
}

type Clock = Pick<World, 'monotonicMs'>;

interface ConnectionState {
  /** By their last request, oldest first. */
  all: Set<TrackedConnection>;
  /** Connections without a request so far, and idle ones between requests: longest first. */
  silent: Set<TrackedConnection>;
  idle: Set<TrackedConnection>;
}

function track(state: ConnectionState, socket: Socket): TrackedConnection | undefined {
  if (state.all.size >= limits.connectionsMax && !makeRoom(state)) {
    socket.destroy();
    return undefined;
  }
  const connection: TrackedConnection = {
    socket,
    requestCount: 0,
    open: [],
    newest: undefined,
    refusedMs: undefined,
    refuse: undefined,
  };
  state.all.add(connection);
  state.silent.add(connection);
  socket.on('close', () => untrack(state, connection));
  return connection;
}

/**
 * Connections cost nothing to open, so many silent ones could keep others out. The one that has
 * been silent for longest is closed first, then an idle one, then one that is still sending.
 */
function makeRoom(state: ConnectionState): boolean {
  const connection =
    state.silent.values().next().value ??
    state.idle.values().next().value ??
    state.all.values().find(({ newest }) => newest?.req.complete === false);
  if (connection === undefined) return false;
  untrack(state, connection);
  connection.socket.destroy();
  return true;
}

function untrack({ all, silent, idle }: ConnectionState, connection: TrackedConnection): void {
  all.delete(connection);
  silent.delete(connection);
  idle.delete(connection);
}

function trackRequest(
  state: ConnectionState,
  connection: TrackedConnection | undefined,
): TrackedRequest {
  if (connection === undefined) return { isLast: true, end: () => undefined };
  return {
    isLast: count(state, connection),
    end: () => {
      if (state.all.has(connection)) state.idle.add(connection);
    },
  };
}

/** Counts a request; returns whether it is the last one. */
function count(state: ConnectionState, connection: TrackedConnection): boolean {
  untrack(state, connection);
  state.all.add(connection);
  connection.requestCount += 1;
  return connection.requestCount >= limits.requestsPerSocketMax;
}

function addRequest(
  state: ConnectionState,
  connection: TrackedConnection,
  { response, world }: { response: ServerResponse; world: Clock },
): void {
  const isLast = count(state, connection);
  connection.open.push(response);
  connection.newest = response;
  // Node's server sends `connection: close`, but answers further requests with an empty 503 and
  // stays open.
  if (isLast) {
    response.prependListener('finish', () => {
      connection.refusedMs = world.monotonicMs();
      response.req.socket.end();
    });
  }
  response.on('close', () => {
    connection.open = connection.open.filter((one) => one !== response);
    if (connection.open.length === 0 && state.all.has(connection)) state.idle.add(connection);
    refuseInTurn(connection, world);
  });
}

function refuseBroken(
  connection: TrackedConnection,
  { socket, refuse, world }: { socket: Socket; refuse: () => void; world: Clock },
): void {
  if (connection.refusedMs !== undefined) {
    cutOff(connection, { socket, nowMs: world.monotonicMs() });
    return;
  }
  connection.refuse ??= refuse;
  refuseInTurn(connection, world);
}

/** The client keeps sending. Destroyed at once, it might not have read the last answer. */
function cutOff(
  { refusedMs }: TrackedConnection,
  { socket, nowMs }: { socket: Socket; nowMs: number },
): void {
  if (refusedMs !== undefined && nowMs - refusedMs >= limits.overLingerMs) socket.destroy();
}

function refuseInTurn(connection: TrackedConnection, world: Clock): void {
  const { refuse, newest, open } = connection;
  if (refuse === undefined) return;
  // The request whose body is broken: this is its only answer, unless one was sent already.
  const broken = newest?.req.complete === false ? newest : undefined;
  const isAnswered = broken?.headersSent === true;
  const isTurn = open.every((response) => response === broken && !isAnswered);
  if (!isTurn) return;
  connection.refuse = undefined;
  connection.refusedMs = world.monotonicMs();
  if (isAnswered) broken.req.socket.destroySoon();
  else refuse();
}

function isSame(one: Socket, other: Socket): boolean {
  return one.remotePort === other.remotePort && one.remoteAddress === other.remoteAddress;
}
