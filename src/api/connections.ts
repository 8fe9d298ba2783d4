// The connections of the server: who makes room when there are too many, in which order one hears its
// answers, and when it ends. It never looks at what is asked, nor at who asks.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { limits } from '../core/limits.ts';
import type { World } from '../core/world.ts';

export interface Connections {
  /**
   * What a connection sent is no request, and `refuse` says so. It does when all that was asked before is
   * answered: whoever sent several requests at once would take it for the answer to the first.
   */
  break(socket: Socket, refuse: () => void): void;
  /** A request on a connection that Node's HTTP server does not know. */
  visit(socket: Socket): Visit;
  /** From now on Node's server knows the connection, and both count its requests from the first on. */
  handedOver(socket: Socket): void;
  /** All of them, at once. */
  cutAll(): void;
}

export interface Visit {
  /** The connection may ask nothing more. */
  isLast: boolean;
  /** It is answered. */
  over(): void;
}

interface Line {
  /** As it was accepted, below TLS. */
  socket: Socket;
  asked: number;
  /** Not answered yet, in the order of the requests. */
  open: ServerResponse[];
  newest: ServerResponse | undefined;
  /** When it was told the last thing; nothing is expected of it any more. */
  toldMs: number | undefined;
  /** What it is to be told last, when it is its turn. */
  refuse: (() => void) | undefined;
}

export function tendConnections(server: Server, world: Pick<World, 'monotonicMs'>): Connections {
  const house: House = { all: new Set(), silent: new Set(), idle: new Set() };
  const lines = new WeakMap<Socket, Line>();
  // The system's own limit closes whoever comes; it is for bursts that come between two looks at ours.
  server.maxConnections = limits.connectionsMax + limits.connectionsSpare;
  server.on('connection', (socket: Socket) => {
    const line = enter(house, socket);
    if (line !== undefined) lines.set(socket, line);
  });
  server.on('secureConnection', (secure: Socket) => {
    const line = house.all.values().find(({ socket }) => isSame(socket, secure));
    if (line !== undefined) lines.set(secure, line);
  });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const line = lines.get(request.socket);
    if (line !== undefined) ask(house, line, { response, world });
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
    visit: (socket) => visit(house, lines.get(socket)),
    handedOver: (socket) => {
      const line = lines.get(socket);
      if (line !== undefined) line.asked = 0;
    },
    cutAll: () => {
      for (const { socket } of house.all) socket.destroy();
    },
  };
}

type Clock = Pick<World, 'monotonicMs'>;

interface House {
  /** By their last request, longest ago first. */
  all: Set<Line>;
  /** Those that have asked nothing yet, and those whose requests are all answered: longest first. */
  silent: Set<Line>;
  idle: Set<Line>;
}

function enter(house: House, socket: Socket): Line | undefined {
  if (house.all.size >= limits.connectionsMax && !makeRoom(house)) {
    socket.destroy();
    return undefined;
  }
  const line: Line = {
    socket,
    asked: 0,
    open: [],
    newest: undefined,
    toldMs: undefined,
    refuse: undefined,
  };
  house.all.add(line);
  house.silent.add(line);
  socket.on('close', () => leave(house, line));
  return line;
}

/**
 * Connections cost nothing to open, so many that ask nothing would keep everybody else out. Whoever has
 * said nothing for longest makes room; then who has nothing to ask any more, then who is still sending.
 */
function makeRoom(house: House): boolean {
  const line =
    house.silent.values().next().value ??
    house.idle.values().next().value ??
    house.all.values().find(({ newest }) => newest?.req.complete === false);
  if (line === undefined) return false;
  leave(house, line);
  line.socket.destroy();
  return true;
}

function leave({ all, silent, idle }: House, line: Line): void {
  all.delete(line);
  silent.delete(line);
  idle.delete(line);
}

function visit(house: House, line: Line | undefined): Visit {
  if (line === undefined) return { isLast: true, over: () => undefined };
  return {
    isLast: count(house, line),
    over: () => {
      if (house.all.has(line)) house.idle.add(line);
    },
  };
}

/** Another request; says whether it is the last one. */
function count(house: House, line: Line): boolean {
  leave(house, line);
  house.all.add(line);
  line.asked += 1;
  return line.asked >= limits.requestsPerSocketMax;
}

function ask(
  house: House,
  line: Line,
  { response, world }: { response: ServerResponse; world: Clock },
): void {
  const isLast = count(house, line);
  line.open.push(response);
  line.newest = response;
  // The server says that it closes, but answers what comes behind with an empty 503, and stays open.
  if (isLast) {
    response.prependListener('finish', () => {
      line.toldMs = world.monotonicMs();
      response.req.socket.end();
    });
  }
  response.on('close', () => {
    line.open = line.open.filter((one) => one !== response);
    if (line.open.length === 0 && house.all.has(line)) house.idle.add(line);
    refuseInTurn(line, world);
  });
}

function breakOff(
  line: Line,
  { socket, refuse, world }: { socket: Socket; refuse: () => void; world: Clock },
): void {
  if (line.toldMs !== undefined) {
    cutOff(line, { socket, nowMs: world.monotonicMs() });
    return;
  }
  line.refuse ??= refuse;
  refuseInTurn(line, world);
}

/** It goes on sending. Cut off at once, it might not have read what it was told last. */
function cutOff({ toldMs }: Line, { socket, nowMs }: { socket: Socket; nowMs: number }): void {
  if (toldMs !== undefined && nowMs - toldMs >= limits.overLingerMs) socket.destroy();
}

function refuseInTurn(line: Line, world: Clock): void {
  const { refuse, newest, open } = line;
  if (refuse === undefined) return;
  // The request whose body is broken: nobody else will answer it, unless somebody has already.
  const broken = newest?.req.complete === false ? newest : undefined;
  const isAnswered = broken?.headersSent === true;
  const isTurn = open.every((response) => response === broken && !isAnswered);
  if (!isTurn) return;
  line.refuse = undefined;
  line.toldMs = world.monotonicMs();
  if (isAnswered) broken.req.socket.destroySoon();
  else refuse();
}

function isSame(one: Socket, other: Socket): boolean {
  return one.remotePort === other.remotePort && one.remoteAddress === other.remoteAddress;
}
