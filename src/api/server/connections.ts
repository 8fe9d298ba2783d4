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
  visit(socket: Socket): Visit;
  /** Node's server takes over the connection, and both count its requests from zero. */
  handedOver(socket: Socket): void;
  /** Destroys all connections. */
  cutAll(): void;
}

export interface Visit {
  /** No further request is accepted on the connection. */
  isLast: boolean;
  /** Call when the request is answered. */
  over(): void;
}

interface Line {
  /** The accepted TCP socket, below TLS. */
  socket: Socket;
  asked: number;
  /** Unanswered requests, in order. */
  open: ServerResponse[];
  newest: ServerResponse | undefined;
  /** When the last answer was sent; no further request is expected. */
  refusedMs: number | undefined;
  /** The final refusal, sent when its turn comes. */
  refuse: (() => void) | undefined;
}

export function tendConnections(server: Server, world: Pick<World, 'monotonicMs'>): Connections {
  const state: ConnectionState = { all: new Set(), silent: new Set(), idle: new Set() };
  const lines = new WeakMap<Socket, Line>();
  // The limit of Node's server closes new connections outright; it is for bursts between two checks
  // of ours.
  server.maxConnections = limits.connectionsMax + limits.connectionsSpare;
  server.on('connection', (socket: Socket) => {
    const line = enter(state, socket);
    if (line !== undefined) lines.set(socket, line);
  });
  server.on('secureConnection', (secure: Socket) => {
    const line = state.all.values().find(({ socket }) => isSame(socket, secure));
    if (line !== undefined) lines.set(secure, line);
  });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const line = lines.get(request.socket);
    if (line !== undefined) ask(state, line, { response, world });
  });
  server.on('dropRequest', (_request, socket: Socket) => {
    const line = lines.get(socket);
    if (line !== undefined) cutOff(line, { socket, nowMs: world.monotonicMs() });
  });
  return {
    break: (socket, refuse) => {
      const line = lines.get(socket);
      if (line === undefined) refuse();
      else breakOff(line, { socket, refuse, world });
    },
    visit: (socket) => visit(state, lines.get(socket)),
    handedOver: (socket) => {
      const line = lines.get(socket);
      if (line !== undefined) line.asked = 0;
    },
    cutAll: () => {
      for (const { socket } of state.all) socket.destroy();
    },
  };
}

type Clock = Pick<World, 'monotonicMs'>;

interface ConnectionState {
  /** By their last request, oldest first. */
  all: Set<Line>;
  /** Connections without a request so far, and idle ones between requests: longest first. */
  silent: Set<Line>;
  idle: Set<Line>;
}

function enter(state: ConnectionState, socket: Socket): Line | undefined {
  if (state.all.size >= limits.connectionsMax && !makeRoom(state)) {
    socket.destroy();
    return undefined;
  }
  const line: Line = {
    socket,
    asked: 0,
    open: [],
    newest: undefined,
    refusedMs: undefined,
    refuse: undefined,
  };
  state.all.add(line);
  state.silent.add(line);
  socket.on('close', () => leave(state, line));
  return line;
}

/**
 * Connections cost nothing to open, so many silent ones could keep others out. The one that has
 * been silent for longest is closed first, then an idle one, then one that is still sending.
 */
function makeRoom(state: ConnectionState): boolean {
  const line =
    state.silent.values().next().value ??
    state.idle.values().next().value ??
    state.all.values().find(({ newest }) => newest?.req.complete === false);
  if (line === undefined) return false;
  leave(state, line);
  line.socket.destroy();
  return true;
}

function leave({ all, silent, idle }: ConnectionState, line: Line): void {
  all.delete(line);
  silent.delete(line);
  idle.delete(line);
}

function visit(state: ConnectionState, line: Line | undefined): Visit {
  if (line === undefined) return { isLast: true, over: () => undefined };
  return {
    isLast: count(state, line),
    over: () => {
      if (state.all.has(line)) state.idle.add(line);
    },
  };
}

/** Counts a request; returns whether it is the last one. */
function count(state: ConnectionState, line: Line): boolean {
  leave(state, line);
  state.all.add(line);
  line.asked += 1;
  return line.asked >= limits.requestsPerSocketMax;
}

function ask(
  state: ConnectionState,
  line: Line,
  { response, world }: { response: ServerResponse; world: Clock },
): void {
  const isLast = count(state, line);
  line.open.push(response);
  line.newest = response;
  // Node's server sends `connection: close`, but answers further requests with an empty 503 and
  // stays open.
  if (isLast) {
    response.prependListener('finish', () => {
      line.refusedMs = world.monotonicMs();
      response.req.socket.end();
    });
  }
  response.on('close', () => {
    line.open = line.open.filter((one) => one !== response);
    if (line.open.length === 0 && state.all.has(line)) state.idle.add(line);
    refuseInTurn(line, world);
  });
}

function breakOff(
  line: Line,
  { socket, refuse, world }: { socket: Socket; refuse: () => void; world: Clock },
): void {
  if (line.refusedMs !== undefined) {
    cutOff(line, { socket, nowMs: world.monotonicMs() });
    return;
  }
  line.refuse ??= refuse;
  refuseInTurn(line, world);
}

/** The client keeps sending. Destroyed at once, it might not have read the last answer. */
function cutOff({ refusedMs }: Line, { socket, nowMs }: { socket: Socket; nowMs: number }): void {
  if (refusedMs !== undefined && nowMs - refusedMs >= limits.overLingerMs) socket.destroy();
}

function refuseInTurn(line: Line, world: Clock): void {
  const { refuse, newest, open } = line;
  if (refuse === undefined) return;
  // The request whose body is broken: this is its only answer, unless one was sent already.
  const broken = newest?.req.complete === false ? newest : undefined;
  const isAnswered = broken?.headersSent === true;
  const isTurn = open.every((response) => response === broken && !isAnswered);
  if (!isTurn) return;
  line.refuse = undefined;
  line.refusedMs = world.monotonicMs();
  if (isAnswered) broken.req.socket.destroySoon();
  else refuse();
}

function isSame(one: Socket, other: Socket): boolean {
  return one.remotePort === other.remotePort && one.remoteAddress === other.remoteAddress;
}
