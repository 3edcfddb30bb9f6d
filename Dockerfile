# The service in one image: production packages and sources, run by Node as they lie. Build: docker build -t assay .
FROM node:24-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
# The sandbox's chain and the development tools stay out; the native signer is optional and comes as a prebuilt binary.
RUN npm ci --omit=dev --no-audit --no-fund && rm -rf node_modules/@foundry-rs

FROM node:24-slim
ENV NODE_ENV=production ASSAY_HOST=0.0.0.0 ASSAY_DATA_DIR=/data
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY package.json ./
COPY data ./data
COPY src ./src
# The command line, for `docker compose run --rm one assay doctor` and its like.
RUN mkdir /data && chown node:node /data && ln -s /app/src/cli.ts /usr/local/bin/assay
# Never root; the root file system may be read-only, everything that is written lies in /data.
USER node
VOLUME /data
EXPOSE 8402
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.ASSAY_PORT || 8402}/health`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# SIGTERM lets calls in flight finish.
CMD ["node", "--max-semi-space-size=16", "src/main.ts"]
