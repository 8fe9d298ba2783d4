// An app is a tenant: it owns keys, subscriptions and events. Nothing is shared between apps. Its customers are names on
// subscriptions and events; a key may be bound to one, and then acts for this customer alone.
import { Problem } from '../errors/problem.ts';
import type { Quotas } from '../load/quotas.ts';
import type { AuditActor } from './audit.ts';

export interface App {
  /** The store's own number; it never leaves the process. */
  no: number;
  id: string;
  name: string;
  createdMs: number;
  /** Quotas set for this app; the service-wide ones apply where one is undefined. */
  quotas: Quotas;
  /** Subscriptions that have not ended. */
  subscriptions: number;
}

/** On whose behalf a call acts: an app, or one of its customers. */
export interface Actor extends Pick<App, 'no' | 'id'> {
  /** Undefined: it sees and does what is of any customer, or of none. */
  customer?: string | undefined;
  /** Whom the audit trail names; undefined: what it does is not recorded. */
  by?: AuditActor | undefined;
}

/** Whether the actor may see it. To all others it does not exist. */
export function isVisible(
  { customer }: Pick<Actor, 'customer'>,
  thing: { customer: string | undefined },
): boolean {
  return customer === undefined || customer === thing.customer;
}

/** The customer that a call is about: the one that it names, or that of its key. Throws if these differ. */
export function customerOf<T extends string | null | undefined>(
  { customer }: Pick<Actor, 'customer'>,
  named: T,
  field: string,
): T | string {
  if (customer === undefined) return named;
  if (named === undefined || named === customer) return customer;
  const found = named === null ? 'no customer' : JSON.stringify(named);
  const message = `names ${found}, expected ${JSON.stringify(customer)} or nothing`;
  const detail = `The key is bound to the customer ${JSON.stringify(customer)}, and ${field} ${message}`;
  throw new Problem('bound_key', detail, { faults: [{ field, message }] });
}

/** The app that the first start creates. Only its keys may hold the scope `operator`. */
export const defaultAppName = 'default';
