# The service in one image: production packages and sources, run by Node as they lie. Build: docker build -t assay .
# The digest is that of the multi-platform index; docs/operating/release.md says how to renew it.
ARG NODE_IMAGE=node:24.21.0-bookworm-slim@sha256:d6aa754f16b3197301076f047b5def2f02ea1dbbc2ca920407d46d7ec7f87b20
FROM ${NODE_IMAGE} AS packages
WORKDIR /app
COPY package.json package-lock.json ./
# The sandbox's chain and the development tools stay out; the native signer is optional and comes as a prebuilt binary.
RUN npm ci --omit=dev --no-audit --no-fund && rm -rf node_modules/@foundry-rs

FROM ${NODE_IMAGE}
ENV NODE_ENV=production ASSAY_HOST=0.0.0.0 ASSAY_DATA_DIR=/data
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY package.json ./
COPY data ./data
COPY docs/guide ./docs/guide
COPY src ./src
# The command line, for `docker compose run --rm one assay doctor` and its like.
RUN mkdir /data && chown node:node /data && ln -s /app/src/cli.ts /usr/local/bin/assay
# Never root; the root file system may be read-only, everything that is written lies in /data.
USER node
VOLUME /data
EXPOSE 8402
# The operator port is asked, which answers while the public one is full. It is not exposed.
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s --retries=3 \
  CMD ["node", "-e", "const { ASSAY_PORT, ASSAY_ADMIN_PORT: admin } = process.env, open = +(ASSAY_PORT || 8402); fetch(`http://127.0.0.1:${admin === 'off' ? open : admin || open + 1}/health`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# SIGTERM lets calls in flight finish. The heap is a part of MEMORY_PLAN in src/service/limits.ts, from which memory limits are computed.
CMD ["node", "--max-old-space-size=512", "--max-semi-space-size=16", "src/main.ts"]
