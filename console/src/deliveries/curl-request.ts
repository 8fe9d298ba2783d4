// The request of an attempt, as far as it is stored. Missing parts are reported, not invented.
import type { CurlRequest } from './curl.ts';
import type { AttemptRequest } from './attempt-request.ts';

/** The content-type is not stored with the attempt; it comes from the contract. */
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

/** The note shown after copying. */
export function copyNote({ mediaType, payload }: AttemptRequest): string {
  const signature =
    'The webhook-signature header is not included, because each attempt is signed separately.';
  const hasBody = mediaType === undefined || payload.value !== undefined;
  return hasBody
    ? signature
    : `${signature} The body is missing, because the event could not be loaded.`;
}
