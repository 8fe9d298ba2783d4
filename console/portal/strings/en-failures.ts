// Why deliveries fail, and what customers can do about it, in English.
export const failures = {
  dns: {
    title: 'The host name was not found',
    fix: 'Check the URL for a typo, and that the host name has a public DNS record.',
  },
  refused: {
    title: 'Your server refused the connection',
    fix: 'Check that the server is running, that the port in the URL is right, and that its firewall lets requests in.',
  },
  tls: {
    title: 'No secure connection could be established',
    fix: 'Check the certificate: it may have expired, be issued for another name, or lack its intermediate certificates.',
  },
  timeout: {
    title: 'Your server did not respond in time',
    fix: 'Respond with 200 first and do the work afterwards, for example in a queue. Also check that no firewall drops the requests.',
  },
  reset: {
    title: 'Your server closed the connection',
    fix: 'Look for a crash or a restart in your log, or a proxy that gives up early. The request may have been processed: recognize duplicates by their `webhook-id`.',
  },
  too_large: {
    title: 'The response headers are too large',
    fix: 'Send fewer and shorter headers in the response. Cookies are not needed.',
  },
  redirect: {
    title: 'Your server redirects to another URL',
    fix: 'Redirects are not followed. Change the URL of the endpoint to the final one; often only `https` or a slash at the end is missing.',
  },
  blocked: {
    title: 'The address is not allowed',
    fix: 'The host name leads to a private or reserved address. Use one that is reachable from the internet.',
  },
  protocol: {
    title: 'The response is not valid HTTP',
    fix: 'Check the scheme and the port of the URL: `http` on an `https` port may cause this.',
  },
  expired: {
    title: 'The delivery has expired',
    fix: 'It was still waiting at the end of the time for which it is kept. Resend it if you still need it.',
  },
  gone: {
    title: 'Your server unsubscribed',
    fix: 'It responded with 410 (Gone), which removes the endpoint. Add the endpoint again if that was a mistake.',
  },
  cancelled: {
    title: 'The endpoint was removed',
    fix: 'The delivery was still waiting when its endpoint was removed, so it was not sent.',
  },
  '400': {
    title: 'Your server rejected the request (400)',
    fix: 'Check what your code expects of the body. The response often says what is wrong.',
  },
  '401': {
    title: 'Your server asks for a login (401)',
    fix: 'Accept requests at this URL without a login, and verify their signature instead.',
  },
  '403': {
    title: 'Your server forbids the request (403)',
    fix: 'If your code rejects the signature, check that it has the current signing secret. Otherwise check the rules of your firewall.',
  },
  '404': {
    title: 'There is nothing at this URL (404)',
    fix: 'Check the path of the URL for a typo, and that the version with this route is deployed.',
  },
  '405': {
    title: 'The URL does not accept POST (405)',
    fix: 'Accept POST requests at this path. Check for a missing or additional slash at the end.',
  },
  '413': {
    title: 'The body is too large for your server (413)',
    fix: 'Raise the limit of your server, and of the proxy in front of it, to 1 MiB.',
  },
  '415': {
    title: 'Your server does not accept the content type (415)',
    fix: 'Accept `application/json`.',
  },
  '429': {
    title: 'Your server limits the rate of requests (429)',
    fix: 'Raise the limit for this URL, or set `Retry-After` to say when the next request is welcome.',
  },
  '502': {
    title: 'The proxy cannot reach your server (502)',
    fix: 'Check that the server behind the proxy is running, and the address that the proxy uses.',
  },
  '503': {
    title: 'Your server is not available (503)',
    fix: 'It is overloaded, starting, or in maintenance. Wait, or add capacity.',
  },
  '504': {
    title: 'Your server did not respond to its proxy in time (504)',
    fix: 'Respond with 200 first and do the work afterwards.',
  },
  '4xx': {
    title: 'Your server rejected the request',
    fix: 'The response often says why. Search your log for the `webhook-id`.',
  },
  '5xx': {
    title: 'Your server failed',
    fix: 'Search your log for the `webhook-id` at the time of the attempt, and fix the error.',
  },
};
