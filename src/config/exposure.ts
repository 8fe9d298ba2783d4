// Who can reach the service, and therefore what callbacks may reach by default. On their own
// machine, developers need receivers on loopback; where clients of other machines call the service,
// a loopback target is an attack.
import { isIP } from 'node:net';
import type { NodeRole } from '../store/port/node-verbs.ts';

interface Exposure {
  host: string;
  publicUrl: string | undefined;
  trustProxy: boolean;
  role: NodeRole;
}

/**
 * The first reason why clients on other machines may reach this service; undefined: only this
 * machine can.
 */
export function whyExposed({ host, publicUrl, trustProxy, role }: Exposure): string | undefined {
  if (!isLoopback(host)) return `the service listens on ${host}`;
  if (publicUrl !== undefined && !isLoopback(new URL(publicUrl).hostname)) {
    return `RINGBACK_PUBLIC_URL is ${publicUrl}`;
  }
  if (trustProxy) return 'RINGBACK_TRUST_PROXY is on';
  // A worker delivers for clients of other nodes, which may listen on any address.
  return role === 'worker' ? 'RINGBACK_ROLE is worker' : undefined;
}

/** What callbacks may reach in addition to public addresses, and which setting decided it. */
export interface AllowedTargets {
  /** As in RINGBACK_ALLOW_TARGETS. */
  text: string;
  reason: string;
}

export function allowedTargets(chosen: string | undefined, exposure: Exposure): AllowedTargets {
  if (chosen !== undefined) return { text: chosen, reason: 'RINGBACK_ALLOW_TARGETS' };
  const exposed = whyExposed(exposure);
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
