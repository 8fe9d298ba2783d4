// The keys under which patterns are stored and looked up. A subscription without a subject and a customer is stored under
// its plain patterns. One with a subject has two keys for each pattern: of its subject, and of any subject. One with a
// customer has each of these keys twice: for events of its customer, and for events of none. So a publish reads only rows
// that match, however many subjects and customers there are.
import { hash } from 'node:crypto';
import { ownPrefix } from '../../core/domain/event.ts';
import { patternsFor } from '../../core/domain/pattern.ts';
import type { Audience } from '../port/delivery-verbs.ts';

/** No pattern of a contract begins like these: own events belong to no contract. The names are hashed, so they are short. */
const [subjectPrefix, customerPrefix] = [`${ownPrefix}subject`, `${ownPrefix}customer`];

/** Between these are the keys of any subject, and no other keys. Each subscription with a subject has one of them. */
export const anySubjectBounds = [`${subjectPrefix} * `, `${subjectPrefix} *!`] as const;

/** What a subscription is about, and whose it is. */
export interface Owner {
  subject: string | undefined;
  customer: string | undefined;
}

/** The keys of a pattern of a callback. Ringback's own events have no subject. */
export function keysOf(pattern: string, { subject, customer }: Owner): string[] {
  const isOwn = pattern.startsWith(ownPrefix);
  const keys =
    subject === undefined || isOwn
      ? [pattern]
      : [keyOfSubject(digestOf(subject), pattern), keyOfAnySubject(pattern)];
  if (customer === undefined) return keys;
  const ofCustomer = keysOfCustomer(customer, keys);
  // An own event without a customer may be about the subscription of another customer.
  return isOwn ? [...ofCustomer, keyOfAnyCustomer(pattern)] : [...keys, ...ofCustomer];
}

/** The patterns that match an event name. `*` does not match Ringback's own events; a pattern must name them. */
export function matchingPatterns(name: string): string[] {
  const patterns = patternsFor(name);
  return name.startsWith(ownPrefix) ? patterns.filter((pattern) => pattern !== '*') : patterns;
}

export interface Matching extends Owner {
  name: string;
  audience: Audience['kind'];
}

/**
 * The keys of all callbacks that match an event, the most specific pattern first. An event of a customer reaches only the
 * subscriptions of that customer, but an own event reaches those without a customer, too.
 */
export function matchingKeys(event: Matching): string[] {
  const { name, customer } = event;
  const keys = keysOfSubject(event);
  if (customer === undefined) return keys;
  const ofCustomer = keysOfCustomer(customer, keys);
  return name.startsWith(ownPrefix) ? [...keys, ...ofCustomer] : ofCustomer;
}

function keysOfSubject({ name, subject, audience }: Matching): string[] {
  const patterns = matchingPatterns(name);
  if (audience === 'any_subject') return patterns.flatMap((one) => [one, keyOfAnySubject(one)]);
  if (subject === undefined) return patterns;
  const digest = digestOf(subject);
  return patterns.flatMap((pattern) => [pattern, keyOfSubject(digest, pattern)]);
}

/** One of these exists if any subscription matches an own event, whatever its customer. */
export function keysOfListeners(name: string): string[] {
  return matchingPatterns(name).flatMap((one) => [one, keyOfAnyCustomer(one)]);
}

/** The keys of callbacks that an event without a subject would pass by. Ringback's own events have none. */
export function passedByKeys({ name, subject, customer, audience }: Matching): string[] {
  if (subject !== undefined || audience !== 'everyone' || name.startsWith(ownPrefix)) return [];
  const keys = matchingPatterns(name).map(keyOfAnySubject);
  return customer === undefined ? keys : keysOfCustomer(customer, keys);
}

/** The subjects that events name, each once for each customer. */
export function ownersNamed(
  events: readonly Partial<Owner>[],
): { subject: string; customer: string | undefined }[] {
  const named = events.flatMap(({ subject, customer }) =>
    subject === undefined
      ? []
      : [[JSON.stringify([subject, customer]), { subject, customer }] as const],
  );
  return [...new Map(named).values()];
}

function keyOfAnySubject(pattern: string): string {
  return `${subjectPrefix} * ${pattern}`;
}

function keyOfSubject(digest: string, pattern: string): string {
  return `${subjectPrefix} ${digest} ${pattern}`;
}

function keyOfAnyCustomer(pattern: string): string {
  return `${customerPrefix} * ${pattern}`;
}

function keysOfCustomer(customer: string, keys: readonly string[]): string[] {
  const digest = digestOf(customer);
  return keys.map((key) => `${customerPrefix} ${digest} ${key}`);
}

function digestOf(text: string): string {
  return hash('sha256', text, 'base64url');
}
