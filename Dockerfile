# The image contains the package and the dependencies of the lock file, but no build or test tools.
# test/package/docker.test.ts executes the RUN, CMD and HEALTHCHECK lines with Node, without a container engine: no image
# has been built from this file yet.

FROM node:26-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
# The build needs no install script of any dependency.
RUN npm ci --ignore-scripts
COPY . .
RUN npm pack
RUN tar -xzf ringback-*.tgz && cp package-lock.json package/
RUN cd package && npm ci --omit=dev --ignore-scripts

FROM node:26-slim
ENV NODE_ENV=production RINGBACK_HOST=0.0.0.0 RINGBACK_DATA=/data
RUN install -d -o node -g node /data
WORKDIR /app
# Owned by root, so that the service cannot modify its own program.
COPY --from=build /build/package ./
COPY docker/healthy.js docker/
USER node
VOLUME /data
EXPOSE 8080
# Checks that the process is alive, not that it is ready: restarting does not help while the database is down.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["node", "docker/healthy.js"]
# No shell and no npm in between, so that signals reach the process.
ENTRYPOINT ["node", "bin/ringback.js"]
CMD ["serve"]
