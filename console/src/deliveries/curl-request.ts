// The request of an attempt in parts, as far as it is kept. What is not kept is said, not invented.
import type { CurlRequest } from './curl.ts';
import type { AttemptRequest } from './attempt-request.ts';

/** Sent with each attempt, not kept: what the console shows besides is from the attempt itself. */
export function curlRequest({
  delivery,
  attempt,
  payload,
  mediaType,
}: AttemptRequest): CurlRequest {
  const { method, url } = attempt?.request ?? delivery.callback;
  const kept = Object.entries(attempt?.request.headers ?? {});
  return {
    method,
    url,
    headers: [...(mediaType === undefined ? [] : [['content-type', mediaType] as const]), ...kept],
    body: mediaType === undefined ? undefined : payload.value,
  };
}

/** What to know about a copy of it. */
export function copyNote({ mediaType, payload }: AttemptRequest): string {
  const signature =
    'The signature is not in it: it is made for each attempt and cannot be repeated.';
  const hasBody = mediaType === undefined || payload.value !== undefined;
  return hasBody ? signature : `${signature} Nor is the body: the event could not be read.`;
}
