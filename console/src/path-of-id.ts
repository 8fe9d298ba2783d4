// Maps what is searched for to the page that shows it: an ID, or the name of a subject or a customer. Of an ID only the
// prefix is checked; the page reports an unknown one.
import { withQuery } from './api.ts';

const pages: Readonly<Record<string, { page: string; parameter: string }>> = {
  dlv: { page: '/console/deliveries', parameter: 'delivery' },
  evt: { page: '/console/events', parameter: 'eventId' },
  sub: { page: '/console/subscriptions', parameter: 'subscription' },
  rpl: { page: '/console/replays', parameter: 'replay' },
  rbk: { page: '/console/keys', parameter: 'key' },
};

/** The path for an ID, a subject or a customer; undefined if the text cannot be one. */
export function pathOfSearch(text: string): string | undefined {
  const name = text.trim();
  const isName = name !== '' && !isSecret(name) && Array.from(name).length <= subjectCharsMax;
  return pathOfId(text) ?? (isName ? searchHref(name) : undefined);
}

export const searchPath = '/console/search';

/** Everything with this subject, and everything of this customer. */
export function searchHref(text: string): string {
  return withQuery(searchPath, { text });
}

export const subjectCharsMax = 256;
export const customerCharsMax = 128;

/** A pasted secret must not end up in the address bar. */
function isSecret(text: string): boolean {
  return /^(?:whse?[ck]|rbk)_/u.test(text);
}

/** The path for an ID; undefined if the text is not a Ringback ID. */
export function pathOfId(text: string): string | undefined {
  const given = text.trim();
  const attempt = attemptIn(given);
  const id = attempt?.delivery ?? given;
  const found = /^([a-z]{3})_[A-Za-z0-9_]+$/u.exec(id);
  const target = pages[found?.[1] ?? ''];
  if (target === undefined) return undefined;
  // A pasted API key stands for its ID. The secret part must not end up in the address bar.
  const shown = target.parameter === 'key' ? id.slice(0, 12) : id;
  const which = attempt === undefined ? '' : `&attempt=${attempt.number}`;
  return `${target.page}?${target.parameter}=${encodeURIComponent(shown)}${which}`;
}

/** An attempt is shown with its delivery: `att_…_0_2` is the second attempt of `dlv_…_0`. */
function attemptIn(id: string): { delivery: string; number: string } | undefined {
  const found = /^att_(.+)_(\d+)$/u.exec(id);
  return found === null ? undefined : { delivery: `dlv_${found[1]}`, number: found[2] ?? '' };
}
