// Who can reach the service, and so what callbacks may reach by default. On a machine of its own a developer
// needs receivers on loopback; where clients of other machines call, a loopback target is an attack.
import { isIP } from 'node:net';
import type { NodeRole } from '../store/node-verbs.ts';

interface Reach {
  host: string;
  publicUrl: string | undefined;
  trustProxy: boolean;
  role: NodeRole;
}

/** The first reason why clients on other machines may call this service; undefined: only this machine can. */
export function whyExposed({ host, publicUrl, trustProxy, role }: Reach): string | undefined {
  if (!isLoopback(host)) return `the service listens on ${host}`;
  if (publicUrl !== undefined && !isLoopback(new URL(publicUrl).hostname)) {
    return `RINGBACK_PUBLIC_URL is ${publicUrl}`;
  }
  if (trustProxy) return 'RINGBACK_TRUST_PROXY is on';
  // A worker delivers what clients asked of other nodes, and those may listen anywhere.
  return role === 'worker' ? 'RINGBACK_ROLE is worker' : undefined;
}

/** What callbacks may reach besides public addresses, and which setting made it so. */
export interface AllowedTargets {
  /** As in RINGBACK_ALLOW_TARGETS. */
  text: string;
  reason: string;
}

export function allowedTargets(chosen: string | undefined, reach: Reach): AllowedTargets {
  if (chosen !== undefined) return { text: chosen, reason: 'RINGBACK_ALLOW_TARGETS' };
  const exposed = whyExposed(reach);
  if (exposed !== undefined) return { text: 'none', reason: `because ${exposed}` };
  return { text: 'loopback', reason: 'because only this machine can reach the service' };
}

/** A sentence for people: what is allowed, why, and which setting changes it. */
export function explainTargets({ text, reason }: AllowedTargets): string {
  const reached = text === 'none' ? 'public addresses only' : `public addresses and ${text}`;
  if (reason === 'RINGBACK_ALLOW_TARGETS') return `${reached}, as set by ${reason}`;
  return `${reached}, ${reason}; set RINGBACK_ALLOW_TARGETS to change this`;
}

export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/u, '$1');
  return bare === 'localhost' || bare === '::1' || (isIP(bare) === 4 && bare.startsWith('127.'));
}
