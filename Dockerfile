# The image: the package with the dependencies of the lock file, and nothing that builds or tests it.
# No engine was at hand when this was written: test/package/docker.test.ts executes its RUN, CMD and HEALTHCHECK lines
# on a machine that has Node, but has never built an image.

FROM node:26-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
# Building needs no script of any dependency.
RUN npm ci --ignore-scripts
COPY . .
RUN npm pack
RUN tar -xzf ringback-*.tgz && cp package-lock.json package/
RUN cd package && npm ci --omit=dev --ignore-scripts

FROM node:26-slim
ENV NODE_ENV=production RINGBACK_HOST=0.0.0.0 RINGBACK_DATA=/data
RUN install -d -o node -g node /data
WORKDIR /app
# Owned by root: the service cannot change its own program.
COPY --from=build /build/package ./
COPY docker/healthy.js docker/
USER node
VOLUME /data
EXPOSE 8080
# Alive, not ready: a database that is away for a while is no reason to start a node anew.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["node", "docker/healthy.js"]
# No shell and no npm in between: signals reach the process.
ENTRYPOINT ["node", "bin/ringback.js"]
CMD ["serve"]
