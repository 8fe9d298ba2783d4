// The HEALTHCHECK of the image: exits with 0 if the service in this container is alive, otherwise with 1.
import { get as getPlain } from 'node:http';
import { get as getSecure } from 'node:https';

const { RINGBACK_PORT: port, RINGBACK_TLS_CERT: certificate } = process.env;
// With an API behind it, only paths below the prefix are Ringback's own.
const { RINGBACK_UPSTREAM: upstream, RINGBACK_MANAGE_PREFIX: prefix } = process.env;

// The certificate is for the public host name, and this request does not leave the container.
const request = {
  host: '127.0.0.1',
  port: port || 8080,
  path: upstream ? `${prefix || '/ringback'}/healthz` : '/healthz',
  rejectUnauthorized: false,
};
const get = certificate ? getSecure : getPlain;

get(request, ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1)).on('error', (error) => {
  console.error(error.message);
  process.exit(1);
});
